import type { KindName } from '@scoregw/quota/store'

/** What a kind of limit is in scripts. */
interface KindInLua {
  /** Those of {@link writtenFor that stand for its cells. */
  readonly letters: 'w' | 'wc' | 's'
  /**
   * What names with a cell's number stand for. Each kind has SINCE, since when a cell is open, and OPENS, the start of one
   * that opens now: kinds differ in these alone, see `terms.lua`.
   *
   * @param lengthMs of a window
   * @param period numbers of a calendar window's periods, see `terms.lua`
   */
  texts(lengthMs: string, period: readonly string[]): Readonly<Record<string, string>>
}

const rolling: KindInLua = {
  letters: 'w',
  texts: (lengthMs) => ({ SINCE: `(now - ${lengthMs} + 1)`, OPENS: 'now' }),
}

export const KINDS_IN_LUA: Readonly<Record<KindName, KindInLua>> = {
  rolling,
  calendar: {
    letters: 'wc',
    texts: (_, [start, end, nextEnd]) => ({ SINCE: start!, OPENS: start!, ENDS: end!, NEXT_END: nextEnd! }),
  },
  // No engine opens one here: see the store's abilities.
  bucket: rolling,
  concurrency: { letters: 's', texts: () => ({ SINCE: '0', OPENS: 'now' }) },
}
