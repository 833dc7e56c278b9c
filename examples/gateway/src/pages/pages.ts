import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Request, Response } from 'express'

const LANGUAGES = ['en', 'zh-CN'] as const
/** The languages of the pages. */
export type PageLanguage = (typeof LANGUAGES)[number]

/** Returns the language in the address, otherwise the one that the browser prefers. */
export function languageOf(req: Request): PageLanguage {
  const named = LANGUAGES.find((each) => each === req.query.lang)
  if (named !== undefined) return named
  const wanted = req.acceptsLanguages('en', 'zh-CN', 'zh-Hans', 'zh')
  return typeof wanted === 'string' && wanted.startsWith('zh') ? 'zh-CN' : 'en'
}

/** Escapes text for HTML elements and attributes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

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
