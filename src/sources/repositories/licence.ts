/** Under which licence a repository is, by the words of its licence file. */

const FILE = /^(un)?licen[cs]e([.-][\w.-]+)?$|^copying([.-][\w.-]+)?$|^licen[cs]es?\/[\w.-]+$/i;

/** Whether a file may be the licence of all of it. */
export const isLicenceFile = (path: string): boolean => FILE.test(path) && !/\.(js|ts|py|go|java|html)$/i.test(path);

/** Words that stand in one licence and in no other, the more particular first. */
const known: [string, RegExp[]][] = [
  ["AGPL-3.0", [/gnu affero general public license/, /version 3/]],
  ["LGPL-3.0", [/gnu lesser general public license/, /version 3/]],
  ["LGPL-2.1", [/gnu lesser general public license/, /version 2\.1/]],
  ["GPL-3.0", [/gnu general public license/, /version 3, 29 june 2007/]],
  ["GPL-2.0", [/gnu general public license/, /version 2, june 1991/]],
  ["Apache-2.0", [/apache license/, /version 2\.0/]],
  ["MPL-2.0", [/mozilla public license/, /version 2\.0/]],
  ["EPL-2.0", [/eclipse public license/, /v ?2\.0/]],
  ["EUPL-1.2", [/european union public licen[cs]e/, /v\. ?1\.2/]],
  ["BSL-1.0", [/boost software license/, /version 1\.0/]],
  ["CC0-1.0", [/cc0 1\.0 universal/]],
  ["CC-BY-SA-4.0", [/attribution-sharealike 4\.0 international/]],
  ["CC-BY-4.0", [/attribution 4\.0 international/]],
  ["Unlicense", [/this is free and unencumbered software released into the public domain/]],
  ["WTFPL", [/do what the fuck you want to public license/]],
  [
    "Zlib",
    [
      /this software is provided 'as-is', without any express or implied warranty/,
      /altered source versions must be plainly marked/,
    ],
  ],
  [
    "0BSD",
    [
      /permission to use, copy, modify, and\/or distribute this software for any purpose with or without fee is hereby granted\. the software/,
    ],
  ],
  [
    "ISC",
    [
      /permission to use, copy, modify, and(\/or)? distribute this software for any purpose with or without fee is hereby granted, provided/,
    ],
  ],
  ["MIT-0", [/permission is hereby granted, free of charge/, /^(?!.*the above copyright notice)/s]],
  ["MIT", [/permission is hereby granted, free of charge/, /the above copyright notice and this permission notice/]],
  ["BSD-4-Clause", [/redistribution and use in source and binary forms/, /all advertising materials/]],
  ["BSD-3-Clause", [/redistribution and use in source and binary forms/, /neither the names? of/]],
  ["BSD-2-Clause", [/redistribution and use in source and binary forms/]],
];

/** The identifier of SPDX for a text; null where it is none that we know. */
export function licenceOf(text: string): string | null {
  const said = /SPDX-License-Identifier:\s*([\w.+-]+(?:\s+(?:OR|AND|WITH)\s+[\w.+-]+)*)/.exec(text)?.[1];
  if (said !== undefined) return said;
  const plain = text
    .slice(0, 50_000)
    .toLowerCase()
    .replaceAll(/[\s*#>"“”]+/g, " ")
    .replaceAll(/[‘’]/g, "'");
  return known.find(([, patterns]) => patterns.every((pattern) => pattern.test(plain)))?.[0] ?? null;
}
