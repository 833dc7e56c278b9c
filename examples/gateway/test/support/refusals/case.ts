import { ENTRY, type SendOptions } from '../gateway.ts'

/** A request that cannot be served, and what it is answered. */
export interface RefusalCase {
  readonly name: string
  /** @default 'POST' */
  readonly method?: string
  /** @default {@link UPSERT} */
  readonly path?: string
  readonly options: SendOptions
  readonly status: number
  readonly error: string
  /** Of the details, sorted. */
  readonly paths?: readonly string[]
  readonly headers?: Record<string, string | null>
}

export const UPSERT = '/v1/music/upsert'

/** A valid upsert of one entry, but for some of its fields. */
export const one = (change: object): SendOptions => ({ body: { musicList: [{ ...ENTRY, ...change }] } })
