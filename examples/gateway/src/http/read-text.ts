/** An answer is larger than it may be. */
export class BodyTooLarge extends Error {
  override readonly name: string = 'BodyTooLarge'
}

/**
 * The body of an answer as text. Counts what arrives after decompression, whatever its head says of its length, and
 * breaks the connection off at the limit.
 *
 * Hand-written: `fetch` has no limit, and packages that do replace it.
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
