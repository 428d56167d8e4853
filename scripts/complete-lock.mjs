// Completes a lock file with the optional packages of other platforms.
//
// Where a registry lacks some of them, npm leaves them out of the lock file and then refuses it in `npm ci`. What is
// added here names version and platform only: on its own platform npm looks such a package up as usual.
import { readFileSync, writeFileSync } from "node:fs";

const systems = {
  android: "android",
  darwin: "darwin",
  freebsd: "freebsd",
  linux: "linux",
  openharmony: "openharmony",
  win32: "win32",
};
const processors = {
  arm64: "arm64",
  x64: "x64",
  arm: "arm",
  ppc64: "ppc64",
  s390x: "s390x",
  ia32: "ia32",
  riscv64: "riscv64",
};

/** The platform that a package's name speaks of; one that names none is kept from being installed by an impossible one. */
function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const os = words.find((word) => word in systems);
  const cpu = words.map((word) => (word === "arm" ? "arm" : word)).find((word) => word in processors);
  return { os: [os ?? "none"], cpu: [cpu ?? "none"], ...(words.includes("musl") ? { libc: ["musl"] } : {}) };
}

for (const file of process.argv.slice(2)) {
  const lock = JSON.parse(readFileSync(file, "utf8"));
  const added = [];
  for (const [path, { optionalDependencies = {}, dev }] of Object.entries(lock.packages))
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const at = `node_modules/${name}`;
      if (lock.packages[at] || lock.packages[`${path}/${at}`]) continue;
      lock.packages[at] = {
        version: range.replace(/^[\^~]/, ""),
        ...platformOf(name),
        ...(dev ? { dev } : {}),
        optional: true,
      };
      added.push(name);
    }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  console.log(`${file}: ${added.length === 0 ? "complete" : `added ${added.join(", ")}`}`);
}
