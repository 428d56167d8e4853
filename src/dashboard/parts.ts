/** What the page of a source may use: imported as "tidemark/dashboard". */
export { Failure, get } from "./api.ts";
export { Narrow, Paged } from "./paged.tsx";
export { type Reading, useReading } from "./reading.ts";
export { routeTo, toResource, toSource } from "./route.ts";
export { Bar, Failed, Loading, Notice, Part, State, When } from "./small.tsx";
export { type Column, Table } from "./table.tsx";
export { counted, figure, percent, span } from "./words.ts";
