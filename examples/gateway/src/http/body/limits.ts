/** How large a request body may be, measured before any of it is parsed. */
export interface BodyLimits {
  /** Bytes outside the {@link list}, after decompression. */
  readonly bytes: number
  /** Nesting of objects and arrays. At most 31. */
  readonly depth: number
  /** Members of objects plus elements of arrays, outside the list. */
  readonly elements: number
  /** Bytes of a single text, as it is sent. */
  readonly stringBytes: number
  /** A member of the body that may be a long list. It is parsed in pieces, with turns of other callers in between. */
  readonly list?: ListLimits | undefined
  /** Whether a body may be compressed with gzip. */
  readonly gzip: boolean
}

interface ListLimits {
  /** The member's name, in ASCII. */
  readonly name: string
  readonly bytes: number
  readonly elements: number
  /** Of a single entry, in bytes. */
  readonly entryBytes: number
  readonly entryElements: number
}

/** Far more than any route needs. A body near these limits is parsed in a few milliseconds. */
export const BODY_LIMITS: BodyLimits = {
  bytes: 1_048_576,
  depth: 16,
  elements: 5_000,
  stringBytes: 65_536,
  gzip: false,
}

/** The limit of a whole body in bytes, after decompression. */
export function mostBytes({ bytes, list }: BodyLimits): number {
  return Math.max(bytes, list?.bytes ?? 0)
}
