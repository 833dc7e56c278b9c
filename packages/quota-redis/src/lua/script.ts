/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'

/** A script, and the hash that servers know it by. */
export interface Script {
  readonly text: string
  /** The hash for EVALSHA. */
  readonly sha: string
}

/** How many bytes of a settings key are their revision. */
export const REVISION_BYTES = 22

/**
 * A script with its parts inserted at the lines `--- @include "name"`.
 *
 * @param parts by those names
 */
export function scriptOf(text: string, parts: Readonly<Record<string, string>> = {}): Script {
  const whole = assembled(text, parts)
  return { text: whole, sha: createHash('sha1').update(whole).digest('hex') }
}

function assembled(text: string, parts: Readonly<Record<string, string>>): string {
  return text.replace(/^ *--- @include "([a-z./-]+)"\n/gm, (_, name: string) => assembled(parts[name]!, parts))
}
