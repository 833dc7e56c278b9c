import type { StoredDocument } from '@scoregw/quota/store'
import { REVISION_BYTES } from '../lua/script.ts'

/**
 * The value of a key as `write.lua` wrote it: revision, version and JSON; for a removed document the version only.
 *
 * Any other value also counts as a stored document: the bytes in place of a revision are its revision, since the
 * decision script compares those, and a document that isn't JSON is its text.
 */
export function storedDocument(bytes: Buffer | null): StoredDocument | undefined {
  const text = bytes?.toString() ?? ''
  if (bytes === null || text === '' || /^\d+$/.test(text)) return undefined
  const [, revision, version, json] = /^(\S{22}) (\d+) (.*)$/s.exec(text) ?? []
  if (revision === undefined || json === undefined) return { document: text, version: 0, revision: revisionOf(bytes) }
  return { document: parsed(json), version: Number(version), revision }
}

/** The first bytes of a key as `lua/revision.lua` returns them: hexadecimal if they aren't a revision. */
function revisionOf(bytes: Buffer): string {
  const start = bytes.subarray(0, REVISION_BYTES).toString('latin1')
  return start.replace(/[^\w-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
