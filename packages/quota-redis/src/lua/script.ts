/// <reference path="../lua.d.ts" />
import { createHash } from 'node:crypto'

/** A script as servers know it. */
export interface Script {
  readonly text: string
  /** What EVALSHA calls it. */
  readonly sha: string
}

/** How many bytes of a settings' key are their revision. */
export const REVISION_BYTES = 22

/**
 * A script as it is written, parts standing in place of the lines that name them: `--- @include "name"`.
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
