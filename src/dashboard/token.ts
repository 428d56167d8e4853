/** The token that the server may ask for: kept for this tab alone, and sent to nobody else. */

const NAME = "tidemark-token";

export const readToken = (): string | null => sessionStorage.getItem(NAME);

export function keepToken(token: string | null): void {
  if (token === null || token === "") sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, token);
}

export function tokenHeaders(): Record<string, string> {
  const token = readToken();
  return token === null ? {} : { authorization: `Bearer ${token}` };
}
