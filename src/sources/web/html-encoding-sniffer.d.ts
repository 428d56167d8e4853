/** The types of a package that comes without. */
declare module "html-encoding-sniffer" {
  export default function htmlEncodingSniffer(
    bytes: Uint8Array,
    options?: { transportLayerEncodingLabel?: string; defaultEncoding?: string },
  ): string;
}
