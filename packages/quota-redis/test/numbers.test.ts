import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import * as numbers from '../src/counters/numbers.ts'
import { BATCH_SCRIPT } from '../src/counters/script.ts'

const lua = (name: string): string => readFileSync(join(import.meta.dirname, `../src/counters/lua/${name}.lua`), 'utf8')

/** `local A, B = 1, 2` by name. */
function constantsOf(text: string): Record<string, number> {
  const lines = [...text.matchAll(/^local ([A-Z_, ]+) = (-?\d+(?:, -?\d+)*)/gm)]
  return Object.fromEntries(
    lines.flatMap(([, names = '', values = '']) =>
      names.split(', ').map((name, i) => [name, Number(values.split(', ')[i])] as const),
    ),
  )
}

describe('the numbers of a batch', () => {
  it('the numbers of a batch are at the positions that the script reads', () => {
    const { BEGIN, IS_STALE, REVISION, SHARED, OWN, BEHIND_GROUP, RUN, KINDS } = numbers
    const kinds = { CALENDAR: KINDS.calendar, SLOTS: KINDS.concurrency, BUCKET: KINDS.bucket }
    expect(constantsOf(lua('numbers'))).toMatchObject({
      BEGIN,
      IS_STALE,
      REVISION,
      SHARED,
      OWN,
      BEHIND_GROUP,
      RUN,
      ...kinds,
    })
  })

  it('the numbers of steps match the script’s', () => {
    const [, list = ''] = /local by_code = \{([^}]*)\}/.exec(lua('steps')) ?? []
    expect([...list.matchAll(/steps\.(\w+)/g)].map(([, name]) => name)).toEqual(numbers.STEPS)
  })

  it('the statuses are those of the script', () => {
    const parts = ['batch', 'finish', 'steps', 'takes', 'tariffs', 'unusual-takes'].map(lua)
    const code = parts.flatMap((part) => part.split('\n')).filter((line) => !line.startsWith('--'))
    const letters = code.flatMap((line) => [...line.matchAll(/'([a-z])'/g)].map(([, letter]) => letter))
    expect([...new Set(letters)].sort()).toEqual(Object.keys(numbers.STATUSES).sort())
  })

  it('each part of the script is short, and the parts are joined as written', () => {
    for (const name of ['batch', 'lists', 'numbers', 'steps', 'takes', 'tariffs', 'unusual-takes', 'writes']) {
      expect(lua(name).split('\n').length, name).toBeLessThan(200)
      const code = lua(name)
        .split('\n')
        .find((line) => line.startsWith('local ') || line.startsWith('function '))
      expect(BATCH_SCRIPT.text, name).toContain(code)
    }
    expect(BATCH_SCRIPT.text).not.toContain('@include')
  })
})
