import { describe, expect, it } from 'vitest'
import { partsOf, patchOf, standingOf } from '../src/pages/history/reversal.ts'

type Document = Record<string, unknown>

/** As in RFC 7396. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Document = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {}
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name]
    else result[name] = mergePatch(result[name], value)
  }
  return result
}

const before: Document = {
  mode: 'normal',
  base: { personal: { read: { '1h': 120, '5h': 400 } } },
  custom: null,
  site: { enabled: true, multiplier: 1 },
  prices: { 'user.music': 5 },
}
const after: Document = {
  mode: 'custom',
  base: { personal: { read: { '1h': 200, '5h': 400 } } },
  custom: { personal: { read: { '1h': 1, '5h': 2 } } },
  site: { enabled: false, multiplier: 1 },
  prices: { 'user.data': 3 },
}

describe('a change of the settings', () => {
  it('a change is split into its smallest parts', () => {
    expect(partsOf(before, after).map(({ path }) => path)).toEqual([
      ...['mode', 'base.personal.read.1h', 'custom', 'site.enabled', 'prices.user.music', 'prices.user.data'],
    ])
    expect(partsOf({ ...before, prices: {} }, { ...before, custom: undefined, prices: undefined })).toEqual([])
  })

  it('a change is undone by a patch that leaves later changes alone', () => {
    const { custom: _, ...rest } = before
    expect(mergePatch(after, patchOf(partsOf(before, after)))).toEqual(rest)
    const later = { ...after, prices: { 'user.data': 3, 'charge.2': 9 } }
    expect(mergePatch(later, patchOf(partsOf(before, after)))).toEqual({
      ...rest,
      prices: { 'user.music': 5, 'charge.2': 9 },
    })
    const [mode] = partsOf(before, after)
    expect(patchOf(mode === undefined ? [] : [mode])).toEqual({ mode: 'normal' })
  })

  it('parts that were changed again since are reported', () => {
    const parts = partsOf(before, after)
    const now = { ...after, mode: 'lenient', base: before.base }
    expect(parts.map((part) => standingOf(part, now))).toEqual(['later', 'done', ...Array(4).fill('open')])
  })
})
