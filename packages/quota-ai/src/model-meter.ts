import {
  type Counting,
  type HeldReservation,
  type OneUnit,
  type Quota,
  QuotaError,
  type Reservation,
} from '@scoregw/quota'
import { operationOf } from '@scoregw/quota/http'
import { unitNames } from '@scoregw/quota/store'
import { type CallOptions, optionsOfCall } from './call-options.ts'
import { QuotaRefusedError, QuotaRepeatedError } from './errors.ts'
import { type ModelTokens, plainTokens, promptTokens, textTokens, totalTokens } from './model-tokens.ts'
import { settleOrLog } from './settle.ts'

/** A call of a model, before it is made. */
export interface ModelRequest {
  /** The model's id, by which it has a price. */
  readonly model: string
  /** Of the AI SDK, or the messages of a client. */
  readonly prompt: unknown
  /** The most that the model may answer, as the call says. */
  readonly maxOutputTokens?: number | undefined
  /** Aborted when nothing listens any more: what was streamed until then is charged, as by {@link ModelCall.abort}. */
  readonly signal?: AbortSignal | undefined
}

/** The options of {@link modelMeter}; `Request` is what its functions are given. */
export interface ModelMeterOptions<
  Request extends ModelRequest = ModelRequest,
  Operation extends string = string,
  C extends Counting = OneUnit,
> extends CallOptions<Request, C> {
  readonly quota: Quota<Operation, C>
  /** The operation of the policy; its `overrun` is `charge` or `fit`, since a model may use more than was estimated. */
  readonly operation: NoInfer<Operation>
  /**
   * What tokens of a model cost; {@link priced} counts money too.
   * @default all of them, as `tokens`
   */
  readonly cost?: ((tokens: ModelTokens, model: string) => C['cost']) | undefined
  /**
   * Most tokens of an answer where the call names none: they are held, and the AI SDK's model is given the bound.
   * @default none: calls have to name one
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Tokens of a prompt, as estimated before the call.
   * @default a third of its bytes; 1,500 for each picture or file
   */
  readonly promptTokens?: ((prompt: unknown, model: string) => number | PromiseLike<number>) | undefined
  /**
   * The server's own id of a call, which is charged once: repeats of one that was answered, from any process, are
   * {@link QuotaRepeatedError}s; those of one that failed go on.
   * @default none
   */
  readonly id?: ((request: Request) => string | undefined) | undefined
}

/** A call that was admitted. Settle it once; it is kept alive until then. */
export interface ModelCall {
  /** The most that the model may answer. */
  readonly maxOutputTokens: number
  /** A part of the answer came: what counts where the provider reports no usage. */
  streamed(text: string): void
  /** The answer is whole: charged as the provider reports, else by what was streamed. */
  end(reported?: ModelTokens): Promise<void>
  /** Nobody listens any more: the prompt is charged, and what was streamed until now. */
  abort(): Promise<void>
  /** The call failed: given back; what was streamed before, and its prompt, is charged. */
  fail(): Promise<void>
}

/** Most attempts of one id. */
const MAX_ATTEMPTS = 10

/** Meters calls of models: holds what a call may cost, and charges what it came to. */
export interface ModelMeter<Request extends ModelRequest = ModelRequest> {
  /**
   * Holds the estimate of a call.
   * @throws {QuotaRefusedError} the quota refuses it
   * @throws {QuotaRepeatedError} its id was charged before
   * @throws {QuotaError} `invalid_cost` without a bound of the answer; `invalid_options` for a model without a price
   */
  start(request: Request): Promise<ModelCall>
}

/**
 * Makes a meter of calls of any client; the AI SDK has {@link quotaAi}.
 *
 * @throws {QuotaError} `unknown_operation`; `invalid_options` for an operation without `overrun`
 */
export function modelMeter<Request extends ModelRequest, Operation extends string, C extends Counting>(
  options: ModelMeterOptions<Request, Operation, C>,
): ModelMeter<Request> {
  checkOperation(options.quota.policy, options.operation)
  const { quota, maxOutputTokens: most, promptTokens: estimate = promptTokens, logger } = options
  const reserve = reserving(options as unknown as ModelMeterOptions<Request, string, Counting>)
  const cost: Cost = options.cost ?? defaultCost(quota.policy)

  return {
    async start(request) {
      const { maxOutputTokens = most, model, prompt, signal } = request
      if (maxOutputTokens === undefined) {
        const where = 'set maxOutputTokens of the call, or of the options for calls that name none'
        throw new QuotaError('invalid_cost', `what the model may answer has no bound, so nothing can be held: ${where}`)
      }
      const input = await estimate(prompt, model)
      const { hold, recharge } = await reserve(request, cost(plainTokens(input, maxOutputTokens), model))
      const stop = hold.keepAlive()
      let text = ''
      let isSettled = false
      const soFar = (): ModelTokens => plainTokens(input, textTokens(text))
      const settled = (settle: () => Promise<unknown>): Promise<void> => {
        stop()
        isSettled = true
        signal?.removeEventListener('abort', abort)
        return settleOrLog(settle, logger)
      }
      const charged = (tokens: ModelTokens): Promise<void> => settled(() => hold.commit(countable(cost(tokens, model))))
      const fail = (): Promise<void> => {
        if (text === '') return settled(() => hold.cancel())
        if (recharge === undefined || isSettled) return charged(soFar())
        return settled(() => recharge(countable(cost(soFar(), model))))
      }
      const abort = (): Promise<void> => charged(soFar())
      signal?.addEventListener('abort', abort, { once: true })
      return {
        maxOutputTokens,
        streamed(part) {
          text += part
        },
        end: (reported) => charged(reported ?? soFar()),
        abort,
        fail,
      }
    },
  }
}

type Cost = (tokens: ModelTokens, model: string) => Counting['cost']

/** What is more than can be counted: as much as can be. `maxOverrun` bounds what is charged of it. */
function countable(cost: Counting['cost']): Counting['cost'] {
  const most = (amount: number): number => Math.min(amount, Number.MAX_SAFE_INTEGER)
  if (typeof cost === 'number') return most(cost)
  return Object.fromEntries(
    Object.entries(cost).map(([unit, amount]) => [unit, amount === undefined ? amount : most(amount)]),
  )
}

interface HeldCall {
  readonly hold: HeldReservation<Counting>
  /**
   * Gives the hold back, and charges a cost without its id, so that a repeat goes on; there where it has an id. The cost is not
   * charged if others take the room in between.
   * @throws {QuotaRefusedError} they did
   */
  readonly recharge?: ((cost: Counting['cost']) => Promise<void>) | undefined
}

/** Holds the cost of a call for its subject. */
function reserving<Request extends ModelRequest>(options: ModelMeterOptions<Request, string, Counting>) {
  const { quota, operation, id } = options
  return async (request: Request, cost: Counting['cost']): Promise<HeldCall> => {
    const by = { ...(await optionsOfCall(options, request)), operation }
    const asked = { ...by, cost, signal: request.signal }
    const name = id?.(request)
    if (name === undefined) return { hold: admitted(await quota.reserve(asked), '') }
    for (let attempt = 1; ; attempt++) {
      const reserved = await quota.reserve({ ...asked, id: `${attempt}:${name}` })
      // An attempt that failed used its id up: the next has another.
      const isUsedUp = reserved.status === 'cancelled' || reserved.status === 'expired'
      if (isUsedUp && attempt < MAX_ATTEMPTS) continue
      const hold = admitted(reserved, name)
      const recharge = async (actual: Counting['cost']): Promise<void> => {
        await hold.cancel()
        await admitted(await quota.reserve({ ...by, cost: actual }), name).commit()
      }
      return { hold, recharge }
    }
  }
}

function admitted(hold: Reservation<Counting>, id: string): HeldReservation<Counting> {
  if (hold.status === 'reserved') return hold
  if (hold.status === 'refused') throw new QuotaRefusedError(hold.decision)
  throw new QuotaRepeatedError(id)
}

function defaultCost(
  policy: Parameters<typeof unitNames>[0],
): (tokens: ModelTokens) => number | { readonly tokens: number } {
  const isOne = unitNames(policy).length === 1
  return (tokens) => (isOne ? totalTokens(tokens) : { tokens: totalTokens(tokens) })
}

function checkOperation(policy: Parameters<typeof operationOf>[0], name: string): void {
  const { overrun = 'refuse' } = operationOf(policy, name)
  if (overrun !== 'refuse') return
  const why = 'a model may use more than was estimated'
  const message = `operation ${JSON.stringify(name)} needs overrun 'charge' or 'fit', with maxOverrun: ${why}`
  throw new QuotaError('invalid_options', message)
}
