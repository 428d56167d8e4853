/** The issues of one repository of the pretend GitHub: filed, edited, commented on, closed, deleted; all by hand. */

export interface Comment {
  id: string;
  author: string | null;
  association: string;
  body: string;
  created_ms: number;
  updated_ms: number;
}

export interface Label {
  id: string;
  name: string;
  color: string;
}

export interface Issue {
  id: string;
  number: number;
  title: string;
  body: string | null;
  state: "OPEN" | "CLOSED";
  state_reason: string | null;
  author: string | null;
  created_ms: number;
  updated_ms: number;
  closed_ms: number | null;
  /** Ids of labels. */
  labels: string[];
  comments: Comment[];
  reactions: number;
}

export interface Filed extends Partial<Omit<Issue, "id" | "labels" | "comments">> {
  /** By their names; those that are new are made. */
  labels?: string[];
}

export class IssueShelf {
  readonly #repository: string;
  readonly #now_ms: () => number;
  /** Of all shelves, so that an issue can be asked for by its id alone. */
  readonly #everywhere: Map<string, { shelf: IssueShelf; issue: Issue }>;
  readonly issues = new Map<number, Issue>();
  readonly labels = new Map<string, Label>();
  #count = 0;
  #comments = 0;
  #sorted: Record<string, Issue[]> = {};

  constructor(repository: string, now_ms: () => number, everywhere: Map<string, { shelf: IssueShelf; issue: Issue }>) {
    this.#repository = repository;
    this.#now_ms = now_ms;
    this.#everywhere = everywhere;
  }

  get repository(): string {
    return this.#repository;
  }

  file({ labels = [], ...given }: Filed = {}): Issue {
    const number = given.number ?? this.#count + 1;
    this.#count = Math.max(this.#count, number);
    const at_ms = this.#now_ms();
    const issue: Issue = {
      id: `I_${this.#repository.slice(-8)}_${number}`,
      title: `Issue ${number}`,
      body: "",
      state: "OPEN",
      state_reason: null,
      author: "ann",
      created_ms: at_ms,
      updated_ms: given.created_ms ?? at_ms,
      closed_ms: null,
      reactions: 0,
      ...given,
      number,
      labels: labels.map((name) => this.label(name).id),
      comments: [],
    };
    this.#put(issue);
    return issue;
  }

  #put(issue: Issue): void {
    this.issues.set(issue.number, issue);
    this.#everywhere.set(issue.id, { shelf: this, issue });
    this.#sorted = {};
  }

  at(number: number): Issue {
    const found = this.issues.get(number);
    if (!found) throw new Error(`The pretend GitHub has no issue ${number} in ${this.#repository}.`);
    return found;
  }

  /** Changes it, at this moment unless the change itself says when. */
  edit(number: number, change: Partial<Issue>): Issue {
    const issue = this.at(number);
    Object.assign(issue, { updated_ms: this.#now_ms() }, change);
    this.#sorted = {};
    return issue;
  }

  close(number: number, state_reason: string | null = "COMPLETED"): Issue {
    return this.edit(number, { state: "CLOSED", state_reason, closed_ms: this.#now_ms() });
  }

  comment(number: number, body: string, { author = "bob" as string | null, association = "NONE" } = {}): Comment {
    const at_ms = this.#now_ms();
    const id = `IC_${this.#repository.slice(-8)}_${++this.#comments}`;
    const comment: Comment = { id, author, association, body, created_ms: at_ms, updated_ms: at_ms };
    const issue = this.at(number);
    issue.comments.push(comment);
    this.edit(number, {});
    return comment;
  }

  uncomment(number: number, id: string): void {
    const issue = this.at(number);
    this.edit(number, { comments: issue.comments.filter((one) => one.id !== id) });
  }

  label(name: string): Label {
    const known = [...this.labels.values()].find((one) => one.name === name);
    if (known) return known;
    const made = { id: `LA_${this.#repository.slice(-8)}_${this.labels.size + 1}`, name, color: "ededed" };
    this.labels.set(made.id, made);
    return made;
  }

  /** Issues that have it are not updated by this, as on GitHub. */
  renameLabel(from: string, to: string): void {
    this.label(from).name = to;
  }

  /** Nor by this. */
  react(number: number, reactions: number): void {
    this.at(number).reactions = reactions;
  }

  /** Deleted for good: nothing tells of it. */
  remove(number: number): void {
    this.#everywhere.delete(this.at(number).id);
    this.issues.delete(number);
    this.#sorted = {};
  }

  /** It goes to another repository, with another number and another id; the old id leads to it. */
  transfer(number: number, to: IssueShelf): Issue {
    const issue = this.at(number);
    this.issues.delete(number);
    this.#sorted = {};
    const { id, number: _, labels: __, comments, ...rest } = issue;
    const moved = to.file(rest);
    moved.comments = comments;
    this.#everywhere.set(id, { shelf: to, issue: moved });
    return moved;
  }

  /** In this order; ties by number, as GitHub has them. */
  inOrder(field: "UPDATED_AT" | "CREATED_AT"): Issue[] {
    const at = (issue: Issue) => (field === "UPDATED_AT" ? issue.updated_ms : issue.created_ms);
    this.#sorted[field] ??= [...this.issues.values()].sort((a, b) => at(a) - at(b) || a.number - b.number);
    return this.#sorted[field];
  }
}
