import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, Response } from 'express'

/** A public file, compressed once and not for each request. */
export interface PackedFile {
  /** Its name. The extension determines the type. */
  readonly name: string
  readonly bytes: Buffer
  readonly gzipped: Buffer
  readonly etag: string
}

export async function packedFile(name: string, bytes: Buffer): Promise<PackedFile> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  return { name, bytes, gzipped: await promisify(gzip)(bytes), etag }
}

/** Sends a file, or 304 if the browser has it. */
export function sendPacked(req: Request, res: Response, { name, bytes, gzipped, etag }: PackedFile): void {
  const isPacked = req.acceptsEncodings('gzip') === 'gzip'
  if (isPacked) res.set('Content-Encoding', 'gzip')
  res
    .vary('Accept-Encoding')
    .set('ETag', etag)
    .type(name)
    .send(isPacked ? gzipped : bytes)
}
