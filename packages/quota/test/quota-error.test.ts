import { expect, it } from 'vitest'
import { QuotaError } from '../src/index.ts'

/** The class of another copy of the package: the same source, evaluated again. */
async function otherCopy(): Promise<typeof QuotaError> {
  const again = '../src/errors/quota-error.ts?copy'
  const copy = (await import(again)) as { readonly QuotaError: typeof QuotaError }
  expect(copy.QuotaError).not.toBe(QuotaError)
  return copy.QuotaError
}

it('instanceof QuotaError recognizes errors of another copy of the package, in both directions', async () => {
  const Other = await otherCopy()
  expect(new Other('store_full', 'full') instanceof QuotaError).toBe(true)
  expect(new QuotaError('store_full', 'full') instanceof Other).toBe(true)
})

it('instanceof with a QuotaError subclass matches only that subclass', async () => {
  class Mine extends QuotaError {}
  class Others extends QuotaError {}
  const mine = new Mine('store_full', 'full')
  expect(mine instanceof QuotaError).toBe(true)
  expect(mine instanceof Mine).toBe(true)
  expect(mine instanceof Others).toBe(false)
  expect(new QuotaError('store_full', 'full') instanceof Mine).toBe(false)
  expect(mine instanceof (await otherCopy())).toBe(true)
})

it.each([
  undefined,
  null,
  'store_full',
  new Error('full'),
  { code: 'store_full' },
  Object.create(null),
  () => undefined,
])('%s isn’t an instance of QuotaError', (value) => {
  expect(value instanceof QuotaError).toBe(false)
})

it('a QuotaError shows no internal members', () => {
  const error = new QuotaError('store_full', 'full', { cause: 'memory' })
  expect(Object.keys(error).sort()).toEqual(['code', 'docs', 'faults', 'name'])
  expect(Object.getOwnPropertySymbols({ ...error })).toEqual([])
  expect(error).toMatchObject({ cause: 'memory', code: 'store_full', faults: [] })
})

it('a QuotaError message has at most 500 characters', () => {
  expect(new QuotaError('store_error', 'x'.repeat(500)).message).toHaveLength(500)
  const long = new QuotaError('store_error', `${'x'.repeat(498)}${'\u{1F600}'.repeat(10)}`).message
  expect(long).toBe(`${'x'.repeat(498)}…`)
})
