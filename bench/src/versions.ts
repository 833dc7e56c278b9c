import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The installed version of a library. */
export function versionOf(library: string): string {
  const file = join(import.meta.dirname, '../node_modules', library, 'package.json')
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

/** A library's name with its version: `limiter 3.1.0: TokenBucket`. A name with spaces isn't a library's. */
export function versioned(name: string): string {
  const [library = '', ...rest] = name.split(':')
  if (library.includes(' ')) return name
  return [`${library} ${versionOf(library)}`, ...rest].join(':')
}
