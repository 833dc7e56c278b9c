/** How much a request body may be, counted before any of it is parsed. */
export interface BodyLimits {
  /** Bytes, after decompression, of all that is not in the {@link list}. */
  readonly bytes: number
  /** Objects and arrays inside each other. At most 31. */
  readonly depth: number
  /** Members of objects and elements of arrays, all together, outside of the list. */
  readonly elements: number
  /** Bytes of a single text, as it is sent. */
  readonly stringBytes: number
  /** A member of the body that may be a long list. It is parsed in pieces, with turns of others between them. */
  readonly list?: ListLimits | undefined
  /** Whether a body may come packed with gzip. */
  readonly gzip: boolean
}

interface ListLimits {
  /** The member's name, in ASCII. */
  readonly name: string
  readonly bytes: number
  readonly elements: number
  /** Of a single entry. */
  readonly entryBytes: number
  readonly entryElements: number
}

/** Far more than any route needs: what comes near it is parsed in a few milliseconds. */
export const BODY_LIMITS: BodyLimits = {
  bytes: 1_048_576,
  depth: 16,
  elements: 5_000,
  stringBytes: 65_536,
  gzip: false,
}

/** Most bytes of a body in all, after decompression. */
export function mostBytes({ bytes, list }: BodyLimits): number {
  return Math.max(bytes, list?.bytes ?? 0)
}
