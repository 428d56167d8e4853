/** One thing that was looked at, and whether it is in order. */
export interface Finding {
  what: string;
  well: "yes" | "warning" | "no";
  sentence: string;
}

export const yes = (what: string, sentence: string): Finding => ({ what, well: "yes", sentence });
export const warning = (what: string, sentence: string): Finding => ({ what, well: "warning", sentence });
export const no = (what: string, sentence: string): Finding => ({ what, well: "no", sentence });
