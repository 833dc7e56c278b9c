import {
  CONFORMANCE_CASES,
  type ManualClock,
  manualClock,
  type RowName,
  runCase,
  SETTINGS_STORE_CASES,
  type SettingsFactory,
  type StoreFactory,
} from '@scoregw/quota-testkit'
import { durableObjectSettings, durableObjectStore, QuotaDurableObject } from '../../src/index.ts'
import { type Env, named } from './env.ts'

/** The clock of the case at hand: a Worker and its objects are in one isolate. */
let clock: ManualClock = manualClock()

export class TestObject extends QuotaDurableObject<Env> {
  protected override now(): number {
    return clock.now()
  }

  sql(text: string, ...values: readonly unknown[]): Record<string, unknown>[] {
    return this.ctx.storage.sql.exec(text, ...values).toArray()
  }
}

let runs = 0

function storeFactory({ QUOTA: namespace }: Env): StoreFactory {
  return () => {
    clock = manualClock()
    const prefix = `store${++runs}`
    const open = () => durableObjectStore({ namespace, prefix, settings: durableObjectSettings({ namespace, prefix }) })
    const sql = (text: string, ...values: unknown[]) => named<TestObject>(namespace, prefix).sql(text, ...values)
    const keyOf = ({ layer, key }: RowName): string => `${layer}:${key}`
    return {
      store: open(),
      peer: open(),
      capabilities: ['ids', 'clock-steps', 'revisions', 'damage', 'expiry', 'regroup'],
      clock,
      advance: clock.advance,
      stepClock: clock.advance,
      async storeRevision(revision) {
        await sql('delete from quota_settings')
        if (revision !== '') await sql(`insert into quota_settings values ('', '', 1, ?, '{}')`, revision)
      },
      async damage(row, change) {
        const [found] = await sql('select cells from quota_rows where key = ?', keyOf(row))
        if (found === undefined) throw new Error('there is no such row')
        const text = Buffer.from(change(Buffer.from(String(found.cells)))).toString('latin1')
        await sql('update quota_rows set cells = ? where key = ?', text.replaceAll('\0', '\u0001'), keyOf(row))
      },
      async keptForMs(row) {
        const [found] = await sql('select ends_at from quota_rows where key = ?', keyOf(row))
        if (found === undefined) return 0
        return found.ends_at === null ? Number.POSITIVE_INFINITY : Math.max(0, Number(found.ends_at) - clock.now())
      },
      stop: () => undefined,
    }
  }
}

function settingsFactory({ QUOTA: namespace }: Env): SettingsFactory {
  return () => {
    const prefix = `settings${++runs}`
    const [store, peer] = [durableObjectSettings({ namespace, prefix }), durableObjectSettings({ namespace, prefix })]
    // Nothing polls: requests do. These stand for them.
    const use = setInterval(() => void Promise.all([store.poll(), peer.poll()]), 50)
    return { store, peer, capabilities: [], stop: () => clearInterval(use) }
  }
}

/** `/store/7` plays that case and answers nothing, or why it failed. */
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, suite, place] = new URL(request.url).pathname.split('/')
    try {
      if (suite === 'store') await runCase(CONFORMANCE_CASES[Number(place)]!, storeFactory(env))
      else await runCase(SETTINGS_STORE_CASES[Number(place)]!, settingsFactory(env))
      return new Response('')
    } catch (error) {
      return new Response(String((error as Error).stack))
    }
  },
}
