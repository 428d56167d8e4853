/** Answers to the fields of GitHub's schema that are about issues, their comments and their labels. */
import { type Args, type Asking, iso, page, type Typed, typed, writeCursor } from "./answering.ts";
import type { Comment, Issue, IssueShelf, Label } from "./issues.ts";
import type { Repository } from "./world.ts";

/** An issue with where it was met: on a wide page, what hangs on it may be cut short without a word. */
interface Met {
  shelf: IssueShelf;
  issue: Issue;
  wide: number;
}

export const metIssue = (shelf: IssueShelf, issue: Issue, wide = 1) => typed("Issue", { shelf, issue, wide });

/** The first in the order of updates that is not older. */
function since(all: Issue[], at_ms: number): Issue[] {
  let low = 0;
  let high = all.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (all[middle]!.updated_ms < at_ms) low = middle + 1;
    else high = middle;
  }
  return all.slice(low);
}

interface Ordered {
  field: "UPDATED_AT" | "CREATED_AT" | "COMMENTS";
  direction: "ASC" | "DESC";
}

export function issuesOf(repository: Repository, args: Args) {
  const shelf = repository.shelf;
  const { field = "CREATED_AT", direction = "ASC" } = (args.orderBy ?? {}) as Partial<Ordered>;
  const filter = (args.filterBy ?? {}) as { since?: string };
  let all = repository.hasIssues ? shelf.inOrder(field === "UPDATED_AT" ? field : "CREATED_AT") : [];
  if (filter.since !== undefined) {
    const from_ms = Math.floor(Date.parse(filter.since) / 1000) * 1000;
    // Asked for everything since 1970, GitHub answers with nothing.
    if (from_ms <= 0) all = [];
    else if (field === "UPDATED_AT") all = since(all, from_ms);
    else all = all.filter((issue) => issue.updated_ms >= from_ms);
  }
  if (direction === "DESC") all = all.toReversed();
  const { nodes, ...rest } = page(all, args, writeCursor);
  return { ...rest, nodes: nodes.map((issue) => metIssue(shelf, issue, Number(args.first))) };
}

export function labelsOf(repository: Repository, args: Args) {
  const { nodes, ...rest } = page([...repository.shelf.labels.values()], args, writeCursor);
  return { ...rest, nodes: nodes.map((label) => typed("Label", label)) };
}

const author = (login: string | null) => (login === null ? null : { __typename: "User", login });

const of =
  (get: (issue: Issue) => unknown) =>
  ({ value }: Typed<Met>) =>
    get(value.issue);

const moment = (ms: number | null) => (ms === null ? null : iso(ms));

export const issueAnswers = {
  Issue: {
    id: of((i) => i.id),
    number: of((i) => i.number),
    title: of((i) => i.title),
    // GitHub says that there is always one; its answers say otherwise now and then.
    body: of((i) => i.body ?? ""),
    state: of((i) => i.state),
    stateReason: of((i) => i.state_reason),
    author: of((i) => author(i.author)),
    createdAt: of((i) => iso(i.created_ms)),
    updatedAt: of((i) => iso(i.updated_ms)),
    closedAt: of((i) => moment(i.closed_ms)),
    repository: ({ value }: Typed<Met>, _: Args, { world }: Asking) =>
      typed("Repository", world.byId(value.shelf.repository)!),
    reactions: ({ value }: Typed<Met>) => ({ totalCount: value.issue.reactions, nodes: [] }),
    comments: ({ value: { issue, wide } }: Typed<Met>, args: Args, { cuts_short }: Asking) => {
      const all = cuts_short(issue, wide) ? issue.comments.slice(0, 1) : issue.comments;
      const { nodes, ...rest } = page(all, args, writeCursor);
      return { ...rest, nodes: nodes.map((comment) => typed("IssueComment", comment)) };
    },
    labels: ({ value: { shelf, issue } }: Typed<Met>, args: Args) => {
      const { nodes, ...rest } = page(issue.labels, args, writeCursor);
      return { ...rest, nodes: nodes.map((id) => typed("Label", shelf.labels.get(id)!)) };
    },
  },
  IssueComment: {
    id: ({ value }: Typed<Comment>) => value.id,
    body: ({ value }: Typed<Comment>) => value.body,
    author: ({ value }: Typed<Comment>) => author(value.author),
    authorAssociation: ({ value }: Typed<Comment>) => value.association,
    createdAt: ({ value }: Typed<Comment>) => iso(value.created_ms),
    updatedAt: ({ value }: Typed<Comment>) => iso(value.updated_ms),
  },
  Label: {
    id: ({ value }: Typed<Label>) => value.id,
    name: ({ value }: Typed<Label>) => value.name,
    color: ({ value }: Typed<Label>) => value.color,
  },
};

/** Types whose values are made whole by the field that leads to them. */
export const PLAIN_ISSUES = ["IssueConnection", "IssueCommentConnection", "LabelConnection", "ReactionConnection"];
