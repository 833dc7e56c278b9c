import {
  type Clock,
  QuotaError,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreSchema,
  type TakeReply,
  type TakeRequest,
} from '@scoregw/quota'
import { describe, it } from 'vitest'
import { describeStore, manualClock, runHistories, type StoreFactory } from '../src/index.ts'
import { MapStore } from './map-store.ts'

/** A store that can do no more than it must: no ids, answers late, a clock that nobody can step. */
class BareStore implements QuotaStore {
  readonly sync = false
  readonly #store: MapStore

  constructor(clock: Clock) {
    this.#store = new MapStore(clock)
  }

  attach(schema: StoreSchema): void {
    this.#store.attach(schema)
  }

  async take(request: TakeRequest): Promise<TakeReply> {
    if (request.id !== undefined) throw new QuotaError('store_error', 'this store knows no reservation ids')
    return this.#store.take(request)
  }

  async read(request: ReadRequest): Promise<ReadReply> {
    return this.#store.read(request)
  }

  async settle(request: SettleRequest): Promise<void> {
    this.#store.settle(request)
  }

  async reset(request: ResetRequest): Promise<void> {
    this.#store.reset(request)
  }
}

const factory: StoreFactory = () => {
  const clock = manualClock()
  return { store: new BareStore(clock), capabilities: [], clock, advance: clock.advance, stop: () => undefined }
}

describeStore({ describe, it }, factory, 'a store without any capability')

/** The memory of {@link MapStore}, answering late. */
class LateStore extends MapStore {
  override readonly sync: boolean = false
}

describe('random histories', () => {
  it('through the calls that await', async () => {
    const late: StoreFactory = () => {
      const clock = manualClock()
      return {
        store: new LateStore(clock),
        capabilities: ['ids'],
        clock,
        advance: clock.advance,
        stop: () => undefined,
      }
    }
    await runHistories(late, { runs: 100 })
  })
})
