/** What a query costs by GitHub's rule: the requests that its connections need, over a hundred, and one at least. */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from "graphql";

export interface Price {
  points: number;
  /** The most nodes that it can answer with. */
  nodes: number;
}

const NODES_MOST = 500_000;
const FIRST_MOST = 100;

/** Fields that are connections: everything that is paged. */
const paged = (field: FieldNode): boolean =>
  field.arguments?.some(({ name }) => name.value === "first" || name.value === "last") ?? false;

/** Connections that GitHub refuses without `first` or `last`. */
const CONNECTIONS = new Set([
  "repositories",
  "refs",
  "issues",
  "pullRequests",
  "commits",
  "labels",
  "languages",
  "comments",
  "reactions",
]);

export function priceOf(document: DocumentNode, variables: Record<string, unknown>): Price {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const one of document.definitions) if (one.kind === "FragmentDefinition") fragments.set(one.name.value, one);
  const operation = document.definitions.find(
    (one): one is OperationDefinitionNode => one.kind === "OperationDefinition",
  );
  const sum = { requests: 0, nodes: 0 };
  const walk = (set: SelectionSetNode | undefined, times: number): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === "InlineFragment") walk(selection.selectionSet, times);
      else if (selection.kind === "FragmentSpread") walk(fragments.get(selection.name.value)?.selectionSet, times);
      else if (!paged(selection)) {
        if (CONNECTIONS.has(selection.name.value)) throw unbounded(selection.name.value);
        walk(selection.selectionSet, times);
      } else {
        const most = boundOf(selection, variables);
        sum.requests += times;
        sum.nodes += times * most;
        walk(selection.selectionSet, times * most);
      }
    }
  };
  walk(operation?.selectionSet, 1);
  if (sum.nodes > NODES_MOST)
    throw new GraphQLError(
      `This query requests up to ${sum.nodes} possible nodes which exceeds the maximum limit of ${NODES_MOST}.`,
      { extensions: { type: "MAX_NODE_LIMIT_EXCEEDED" } },
    );
  return { points: Math.max(1, Math.round(sum.requests / 100)), nodes: sum.nodes };
}

function boundOf(field: FieldNode, variables: Record<string, unknown>): number {
  const argument = field.arguments?.find(({ name }) => name.value === "first" || name.value === "last");
  const value = argument?.value;
  const bound =
    value?.kind === "IntValue" ? Number(value.value) : value?.kind === "Variable" ? variables[value.name.value] : null;
  if (typeof bound !== "number") throw unbounded(field.name.value);
  if (bound >= 1 && bound <= FIRST_MOST) return bound;
  throw new GraphQLError(
    `Requesting ${bound} records on the \`${field.name.value}\` connection exceeds the \`first\` limit of ${FIRST_MOST} records.`,
    { extensions: { type: "EXCESSIVE_PAGINATION" } },
  );
}

const unbounded = (name: string) =>
  new GraphQLError(`You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`, {
    extensions: { type: "MISSING_PAGINATION_BOUNDARIES" },
  });
