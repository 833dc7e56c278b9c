import { describe, expect, it } from 'vitest'
import { luxonCalendar } from '../src/calendar.ts'
import { createQuota, definePolicy } from '../src/index.ts'

const policy = definePolicy({
  windows: [{ label: '1h' }, { label: 'month', every: 'month', timeZone: 'UTC', anchor: 'subject' }],
  categories: ['read', 'write'],
  layers: [{ name: 'user' }, { name: 'all', shared: true }],
  operations: { get: { category: 'read', cost: 1 }, put: { category: 'write', cost: 1 } },
  base: {
    user: { read: { '1h': 5, month: 50 }, write: { '1h': 3, month: 30 } },
    all: { read: { '1h': 100, month: 1_000 }, write: { '1h': 100, month: 1_000 } },
  },
  plans: { pro: { user: { read: { '1h': 50 } } }, team: {} },
})

function made() {
  return createQuota({ policy, calendar: luxonCalendar() })
}

describe('subjects.update', () => {
  it('subjects.update() changes what the patch names and keeps the rest', async () => {
    const quota = made()
    await quota.subjects.set('u', {
      overrides: { read: { '1h': 7 }, write: { '1h': 9 } },
      bypass: ['all'],
      anchor: { day: 20, time: '06:00' },
    })
    const updated = await quota.subjects.update('u', { plan: 'pro', overrides: { read: { month: 70 } } })
    expect(updated).toEqual({
      version: 2,
      revision: updated.revision,
      overrides: { read: { '1h': 7, month: 70 }, write: { '1h': 9, month: null } },
      bypass: ['all'],
      plan: 'pro',
      until: { overrides: null, plan: null },
      anchor: { day: 20, time: '06:00' },
    })
    expect(await quota.subjects.get('u')).toEqual(updated)
  })

  it('subjects.update() resets a value to its default with null at every depth', async () => {
    const quota = made()
    const whole = { overrides: { read: { '1h': 7 }, write: { '1h': 9 } }, bypass: ['all'], plan: 'pro' } as const
    await quota.subjects.set('u', { ...whole, until: { plan: 99 } })
    expect(await quota.subjects.update('u', { overrides: { read: { '1h': null } } })).toMatchObject({
      overrides: { read: { '1h': null }, write: { '1h': 9 } },
      until: { plan: 99 },
    })
    expect(await quota.subjects.update('u', { overrides: { write: null }, until: null })).toMatchObject({
      overrides: { write: { '1h': null } },
      until: { plan: null, overrides: null },
      bypass: ['all'],
    })
    const empty = { overrides: { read: { '1h': null } }, bypass: [], plan: null }
    expect(await quota.subjects.update('u', { overrides: null, bypass: null, plan: null })).toMatchObject(empty)
    expect(await quota.subjects.set('v', { overrides: null, bypass: null })).toMatchObject(empty)
  })

  it('subjects.update() replaces a whole anchor and keeps an anchor that it doesn’t name', async () => {
    const quota = made()
    await quota.subjects.set('u', { anchor: { day: 20, time: '06:00' } })
    const { anchor } = await quota.subjects.update('u', { plan: 'pro' })
    expect(anchor).toEqual({ day: 20, time: '06:00' })
    expect((await quota.subjects.update('u', { anchor: { day: 5 } })).anchor).toMatchObject({ day: 5, was: anchor })
    expect((await quota.subjects.update('u', { anchor: { day: 5 } })).anchor).not.toHaveProperty('time')
    expect((await quota.subjects.update('u', { anchor: null })).anchor).not.toHaveProperty('day')
  })

  it('subjects.update() and set() ignore the version and revision of a document that was read', async () => {
    const quota = made()
    const read = await quota.subjects.get('u')
    expect((await quota.subjects.set('u', { ...read, plan: 'pro' })).plan).toBe('pro')
    expect((await quota.subjects.update('u', { ...read, bypass: ['all'] })).version).toBe(2)
  })

  it('subjects.update() rejects when another version or revision is stored', async () => {
    const quota = made()
    const { version, revision } = await quota.subjects.set('u', { plan: 'pro' })
    const conflict = expect.objectContaining({ code: 'settings_conflict' })
    await expect(quota.subjects.update('u', { plan: 'team' }, { ifVersion: 0 })).rejects.toEqual(conflict)
    await expect(quota.subjects.update('u', { plan: 'team' }, { ifRevision: 'other' })).rejects.toEqual(conflict)
    expect(
      (await quota.subjects.update('u', { plan: 'team' }, { ifVersion: version, ifRevision: revision })).plan,
    ).toBe('team')
  })

  it('subjects.update() with faults lists all of them and stores nothing', async () => {
    const quota = made()
    const faulty = { overrides: { read: { '1h': -1, '2h': 3 } }, plan: 'gold', anchor: { day: 40 }, colour: 'red' }
    await expect(quota.subjects.update('u', faulty as never)).rejects.toMatchObject({
      code: 'invalid_settings',
      faults: ['overrides.read.1h', 'overrides.read.2h', 'plan', 'anchor.day', 'colour'].map((path) => ({ path })),
    })
    await expect(quota.subjects.update('u', 5 as never)).rejects.toMatchObject({ code: 'invalid_settings' })
    expect((await quota.subjects.get('u')).version).toBe(0)
  })

  it('subjects.update() keeps a removed plan unless the patch names a plan', async () => {
    const quota = made()
    await quota.settings.update({ plans: { gold: {} } })
    await quota.subjects.set('u', { plan: 'gold' as never })
    await quota.settings.update({ plans: { gold: null } })
    expect((await quota.subjects.update('u', { bypass: ['all'] })).plan).toBe('gold')
    const { plan: _, ...others } = await quota.subjects.get('u')
    expect((await quota.subjects.set('u', others)).plan).toBeNull()
  })

  it('subjects.update() applies to the next request', async () => {
    const quota = made()
    quota.consumeSync({ subject: 'u', operation: 'get', cost: 5 })
    expect(quota.peekSync({ subject: 'u', operation: 'get' }).allowed).toBe(false)
    await quota.subjects.update('u', { plan: 'pro' })
    expect(quota.consumeSync({ subject: 'u', operation: 'get', cost: 45 }).allowed).toBe(true)
  })
})
