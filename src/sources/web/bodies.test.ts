/** Requests to a store of bodies are signed as S3 wants them signed. */
import { expect, it } from "vitest";
import { signature } from "./bodies.ts";

it("has the signature that the documentation of S3 computes for its example", () => {
  const signed = signature({
    url: new URL("https://examplebucket.s3.amazonaws.com/?lifecycle"),
    bytes: Buffer.alloc(0),
    key_id: "AKIAIOSFODNN7EXAMPLE",
    secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    region: "us-east-1",
    now_ms: Date.UTC(2013, 4, 24),
    method: "GET",
  });
  expect(signed.authorization).toBe(
    "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date, Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  );
});
