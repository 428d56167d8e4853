/** Paths as octets in one spelling: what needs no escape has none, what needs one has it in capitals. */

const UNRESERVED = /^[A-Za-z0-9\-._~]$/;

/** %7E is ~, %c3 is %C3, ü is %C3%BC; everything else stays as it is. */
export function plainOctets(text: string): string {
  return text
    .replace(/%([0-9a-fA-F]{2})/g, (escaped, hex: string) => {
      const character = String.fromCharCode(Number.parseInt(hex, 16));
      return UNRESERVED.test(character) ? character : escaped.toUpperCase();
    })
    .replace(/[^\x21-\x7e]+/g, (run) => encodeURIComponent(run.toWellFormed?.() ?? run));
}
