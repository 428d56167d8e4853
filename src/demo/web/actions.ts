/** What one can make happen at the pretend web sites of the demo. */
import type { Action } from "../actions.ts";
import { PERMITS } from "./riverton.ts";
import { links, type Sites } from "./sites.ts";

const SLOW_MS = 3_000;
const HARBOR = "www.harborview.org";

/** `slow` is asked by the server how long each host takes. */
export function webActions(sites: Sites): { actions: Record<string, Action>; slow_ms(host: string): number } {
  let no = 0;
  let slow = false;
  const permits = sites.site(PERMITS);
  const actions: Record<string, Action> = {
    "change-page": {
      title: "Change a web page",
      says: "The next visit finds another text: its words are found, the old ones are not, and it is visited more often.",
      act: () => {
        no += 1;
        permits.page(
          "/fences",
          "Permits for fences",
          `<p>Since notice ${no}, a fence of ${no + 3} feet needs a permit, and a surveyor.</p>`,
        );
        return `${PERMITS}/fences says something else.`;
      },
    },
    "move-page": {
      title: "Move a web page",
      says: "A 301: the old address leaves the search, the new one comes in.",
      act: () => {
        permits.page(
          "/boathouses",
          "Permits for boathouses",
          "<p>Was among the garages: boathouses need a permit from the harbor master.</p>",
        );
        permits.moves("/garages", "/boathouses");
        return `${PERMITS}/garages moved to /boathouses.`;
      },
    },
    "delete-page": {
      title: "Delete a web page",
      says: "A 410 is believed at once; a 404 only the third time.",
      act: () => {
        permits.page("/pools", "Gone", "", { status: 410, type: "text/html" });
        return `${PERMITS}/pools is gone for good.`;
      },
    },
  };
  const all = {
    ...actions,
    ...hostActions(sites, () => {
      slow = !slow;
      return slow;
    }),
  };
  return { actions: all, slow_ms: (host) => (slow && host === "slow.ferry.net" ? SLOW_MS : 0) };
}

/** Those that befall a whole host; `turn` makes one slow, or quick again. */
function hostActions(sites: Sites, turn: () => boolean): Record<string, Action> {
  let closed = false;
  return {
    "forbid-robots": {
      title: "Forbid robots, or allow them",
      says: "When robots.txt is read again, all pages of the host leave the search; allowed, they come back.",
      act: () => {
        closed = !closed;
        sites.site(HARBOR).says("User-agent: *", closed ? "Disallow: /" : "Allow: /");
        return `${HARBOR} ${closed ? "does not want robots any more" : "allows robots again"}.`;
      },
    },
    "slow-host": {
      title: "Make a host slow, or quick",
      says: "It gets twice the time that it takes between two calls, and nobody else waits for it.",
      act: () => {
        const slow = turn();
        return `slow.ferry.net takes ${slow ? `${SLOW_MS / 1000} s for each page` : "no time"}.`;
      },
    },
    "open-trap": {
      title: "Open a trap",
      says: "A calendar without end: so many pages that look alike are taken in, and the rest is counted as refused.",
      act: () => {
        const harbor = sites.site(HARBOR);
        harbor.instead = (path) => {
          const month = Number(/^\/calendar\?month=(\d+)$/.exec(path)?.[1]);
          if (!month) return null;
          const body = `<title>Month ${month}</title><p>Nothing happens in month ${month}.</p>${links(`/calendar?month=${month + 1}`, `/calendar?month=${month + 2}`)}`;
          return { status: 200, headers: { "content-type": "text/html" }, body };
        };
        return `${HARBOR} has a calendar for ever.`;
      },
    },
  };
}
