import { postgresTests } from '@scoregw/postgres-server'
import { manualClock } from '@scoregw/quota-testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AuditLog } from '../src/audit/audit.ts'
import { runCommand } from '../src/cli/run-command.ts'
import { MAX_TOKENS, Tokens } from '../src/credentials/tokens.ts'
import { openDatabase } from '../src/db/connect.ts'
import type { Db } from '../src/db/schema.ts'
import { settingsOn } from '../src/quota/settings.ts'
import { AdminUsers } from '../src/users/admin-users.ts'
import { UserRepository } from '../src/users/user-repository.ts'
import { START, tempDir } from './support/gateway.ts'
import { testDatabase } from './support/postgres.ts'

interface Tools {
  readonly db: Db
  readonly audit: AuditLog
  readonly users: UserRepository
  readonly admin: AdminUsers
  readonly tokens: Tokens
}

async function tools(databaseUrl: string): Promise<Tools> {
  const db = await openDatabase({ databaseUrl, dataDir: tempDir() })
  onTestFinished(() => db.destroy())
  const clock = manualClock(START)
  const audit = new AuditLog(db, clock)
  return {
    db,
    audit,
    users: new UserRepository(db, clock),
    admin: new AdminUsers({ db, clock, audit }),
    tokens: new Tokens({ db, clock, audit }),
  }
}

async function outcomes(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((each) => (each.status === 'fulfilled' ? 'done' : String(each.reason.code ?? each.reason))).sort()
}

describe.runIf(postgresTests)('credentials in several processes on PostgreSQL', () => {
  it('concurrent first requests of one id create one user', async () => {
    const { url } = await testDatabase()
    const [a, b] = [await tools(url), await tools(url)]
    const calls = Array.from({ length: 16 }, (_, index) => (index % 2 ? a : b).users.findOrCreate('erin'))
    expect(new Set((await Promise.all(calls)).map(({ id, role }) => `${id} ${role}`))).toEqual(new Set(['erin player']))
    // An administrator's change may come between a first sight and its end.
    const both = await Promise.all([a.admin.put('fay', { name: 'Fay' }, 'x'), b.users.findOrCreate('fay')])
    expect(both[0].user.name).toBe('Fay')
    expect(await a.users.find('fay')).toMatchObject({ name: 'Fay' })
    expect(await a.users.find('\0')).toBeUndefined()
  })

  it('concurrent changes never remove the last administrator, link an account twice, or exceed the tokens’ maximum', async () => {
    const { url } = await testDatabase()
    const [a, b] = [await tools(url), await tools(url)]
    for (const id of ['x', 'y']) await a.admin.create({ id, name: id, role: 'admin' }, 'x')
    const demote = [a.admin.put('x', { role: 'player' }, 'x'), b.admin.put('y', { role: 'player' }, 'y')]
    expect(await outcomes(demote)).toEqual(['conflict', 'done'])
    const link = [a.admin.put('x', { qq: 10_000 }, 'x'), b.admin.put('y', { qq: 10_000 }, 'y')]
    expect(await outcomes(link)).toEqual(['conflict', 'done'])
    const rows = Array.from({ length: MAX_TOKENS - 2 }, (_, index) => {
      return {
        id: `t${index}`,
        service: 'gateway' as const,
        user_id: 'x',
        hash: `h${index}`,
        label: '',
        last_four: '',
        created_at: START,
      }
    })
    await a.db.insertInto('tokens').values(rows).execute()
    const issue = [a, b, a, b].map(({ tokens }) => tokens.issue({ userId: 'x' }, '', 'x'))
    expect(await outcomes(issue)).toEqual(['conflict', 'conflict', 'done', 'done'])
    const add = Array.from({ length: 10 }, (_, index) => (index % 2 ? a : b).admin.changeBalance('x', { add: 1 }, 'x'))
    await Promise.all(add)
    expect(await a.admin.get('x')).toMatchObject({ balance: 20 })
  })

  it('audit numbers have no gap and follow the order of commits', async () => {
    const { url } = await testDatabase()
    const [a, b] = [await tools(url), await tools(url)]
    const settings = settingsOn(a.db, manualClock(START))
    let newest = 0
    let isWriting = true
    const watch = (async () => {
      // A reader that has seen a number has seen all before it.
      while (isWriting) {
        const seqs = (await b.audit.page(undefined, 1_000)).map(({ seq }) => seq)
        expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => seqs.length - index))
        expect(seqs.length).toBeGreaterThanOrEqual(newest)
        newest = seqs.length
      }
    })()
    const left = Array.from({ length: 20 }, (_, index) => index)
    // A few at a time: sixty would wait for ten connections longer than a request may.
    const write = async (): Promise<void> => {
      for (let index = left.pop(); index !== undefined; index = left.pop()) {
        await Promise.all([
          a.admin.put(`u${index}`, {}, 'x'),
          b.tokens.issue({ service: 'sync' }, `b${index}`, 'x'),
          settings.writeSubject('personal', `u${index}`, { limits: {}, bypass: {} }, { by: 'x' }),
        ])
      }
    }
    await Promise.all([1, 2, 3].map(write)).finally(() => {
      isWriting = false
    })
    await watch
    expect(await a.audit.page(undefined, 1_000)).toHaveLength(60)
    expect((await a.audit.page(31, 2)).map(({ seq }) => seq)).toEqual([30, 29])
  })

  it('bots are shared, and the command line and a restart of the demo leave them unchanged', async () => {
    const { url } = await testDatabase()
    const [a, b] = [await tools(url), await tools(url)]
    const { id, token } = await a.tokens.issue({ service: 'sync' }, 'nightly', 'x')
    await Promise.all(
      [a, b].map(({ tokens }) => tokens.replace('demo', [{ owner: { service: 'sync' }, token: 'plain-bot-token' }])),
    )
    expect(await b.tokens.holder('sync', token)).toEqual({ id, name: 'nightly' })
    const env = { DATABASE_URL: url, DATA_DIR: tempDir() }
    const { out } = await runCommand(['users', 'create', 'carol'], env)
    expect(await b.tokens.user(out.trim())).toMatchObject({ id: 'carol' })
    expect((await runCommand(['tokens', 'list', 'carol'], env)).out).toContain('command line')
    await b.tokens.revoke(id, 'x', { service: 'sync' })
    expect(await a.tokens.holder('sync', token)).toBeUndefined()
    expect((await a.tokens.list({ service: 'sync' })).map(({ label }) => label)).toEqual(['demo'])
  })
})
