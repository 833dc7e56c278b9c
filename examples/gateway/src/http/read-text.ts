/** A response body is larger than allowed. */
export class BodyTooLarge extends Error {
  override readonly name: string = 'BodyTooLarge'
}

/**
 * The body of a response as text. It counts the bytes after decompression, regardless of `Content-Length`, and aborts
 * the connection at the limit.
 * Hand-written: `fetch` has no limit, and packages that have one replace `fetch`.
 *
 * @throws {BodyTooLarge}
 */
export async function readText({ body }: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new BodyTooLarge(`the answer is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, bytes).toString('utf8')
}
