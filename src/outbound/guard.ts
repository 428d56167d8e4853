/** Decides which addresses may be called: resolves once, checks all, and hands out only what was checked. */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { hasCode, TidemarkError } from "../errors.ts";
import { plainAddress, readAllowance, specialUse } from "./address.ts";
import { isForHttp } from "./ports.ts";
import { checkFarName } from "./proxy.ts";
import { checkTarget, hostOf, portOf } from "./target.ts";

export interface Address {
  address: string;
  family: 4 | 6;
}

/** Where a call goes: to addresses that were checked, or to the proxy. */
export interface Way {
  addresses: readonly Address[];
  through_proxy: boolean;
}

export interface GuardParts {
  /** Addresses or CIDRs that are let through all the same. */
  allow_private: readonly string[];
  /** The addresses of a name; the system's resolver unless said. */
  resolve?: (name: string) => Promise<readonly Address[]>;
  /** This machine's own addresses; those of its interfaces unless said. */
  own?: () => readonly string[];
}

export class Guard {
  readonly #allows: (address: string) => boolean;
  readonly #resolve: NonNullable<GuardParts["resolve"]>;
  readonly #own: NonNullable<GuardParts["own"]>;
  /** Many calls to one host at once ask the resolver once: it has four threads, shared with all of the process. */
  readonly #asking = new Map<string, Promise<readonly Address[]>>();

  constructor({ allow_private, resolve = resolveBySystem, own = ownAddresses }: GuardParts) {
    this.#allows = readAllowance(allow_private);
    this.#resolve = resolve;
    this.#own = own;
  }

  /**
   * The addresses that this URL may be connected to, all of them checked. One that is refused refuses all: a name with a good
   * and a bad address is how a check is passed with the one and the connection made to the other.
   */
  async check(url: URL): Promise<readonly Address[]> {
    checkTarget(url);
    const host = hostOf(url);
    const family = isIP(host);
    const addresses = family === 0 ? await this.#addressesOf(host) : [{ address: host, family: family as 4 | 6 }];
    for (const { address } of addresses) this.checkAddress(address, host);
    const port = portOf(url);
    if (!isForHttp(port) && !addresses.every(({ address }) => this.#allows(address)))
      throw new TidemarkError(
        "OutboundForbidden",
        `Port ${port} of ${host} belongs to another protocol and is not called, unless TIDEMARK_ALLOW_PRIVATE lists its address.`,
        { details: { host, port } },
      );
    return addresses;
  }

  /**
   * The same where there is a proxy for the open Internet. What is private, and allowed, is near and called directly; what has no
   * address here may have one there.
   */
  async checkWithProxy(url: URL): Promise<Way> {
    const addresses = await this.check(url).catch((thrown: unknown) => {
      if (!hasCode(thrown, "UpstreamDown")) throw thrown;
      checkFarName(hostOf(url));
      return [];
    });
    const near = addresses.length > 0 && addresses.every(({ address }) => this.#useOf(address) !== null);
    return { addresses, through_proxy: !near };
  }

  /** Throws when this address must not be called; `host` is what led to it. */
  checkAddress(address: string, host: string): void {
    const what = this.#allows(address) ? null : this.#useOf(address);
    if (what === null) return;
    const shown = plainAddress(address) ?? "something";
    const leads = shown === host ? `${host} is` : `${host} leads to ${shown}, which is`;
    throw new TidemarkError(
      "OutboundForbidden",
      `${leads} not an address of the open Internet (${what}), so it is not called. If it is meant, TIDEMARK_ALLOW_PRIVATE=${shown} allows it.`,
      { details: { host, address: shown, what } },
    );
  }

  #useOf(address: string): string | null {
    return specialUse(address) ?? this.#ownUse(address);
  }

  /** A call to our own public address does not pass the firewall in front of it. */
  #ownUse(address: string): string | null {
    const plain = plainAddress(address);
    return this.#own().some((own) => plainAddress(own) === plain) ? "this machine itself" : null;
  }

  async #addressesOf(name: string): Promise<readonly Address[]> {
    let asking = this.#asking.get(name);
    if (!asking) {
      asking = this.#resolve(name).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    const addresses = await asking.catch((cause: NodeJS.ErrnoException) => {
      throw nameless(name, cause.code ?? "no reason given", cause);
    });
    if (addresses.length === 0) throw nameless(name, "ENODATA");
    return addresses;
  }
}

function nameless(name: string, dns: string, cause?: unknown): TidemarkError {
  return new TidemarkError("UpstreamDown", `No address was found for ${name} (${dns}).`, {
    details: { host: name, dns },
    ...(cause === undefined ? {} : { cause }),
  });
}

async function resolveBySystem(name: string): Promise<Address[]> {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map(({ address }) => address));
}
