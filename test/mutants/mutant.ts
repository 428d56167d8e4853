/** What one deliberate breakage is. */

export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Mutant {
  name: string;
  edits: Edit[];
  /** The tests that must go red. */
  tests: string[];
}
