import {
  type Counting,
  type HeldReservation,
  type OneUnit,
  type Quota,
  QuotaError,
  type Reservation,
} from '@scoregw/quota'
import { onAbort, operationOf, unitNames } from '@scoregw/quota/internal'
import { type CallOptions, checkCaller, optionsOfCall } from './call-options.ts'
import { QuotaRefusedError, QuotaRepeatedError } from './errors.ts'
import { completeTokens, type ModelTokens, plainTokens, promptTokens, textTokens, totalTokens } from './model-tokens.ts'
import { settleOrLog } from './settle.ts'

/** A model call that is about to be made. */
export interface ModelRequest {
  /** The model's id, which determines its price. */
  readonly model: string
  /** The prompt of the AI SDK, or the messages of a client. */
  readonly prompt: unknown
  /** The most tokens that the model may generate. */
  readonly maxOutputTokens?: number | undefined
  /** Aborts when the caller stops reading. What was streamed until then is charged, see {@link ModelCall.abort}. */
  readonly signal?: AbortSignal | undefined
}

/** The options of {@link modelMeter}. `Request` is the argument of its functions. */
export interface ModelMeterOptions<
  Request extends ModelRequest = ModelRequest,
  Operation extends string = string,
  C extends Counting = OneUnit,
> extends CallOptions<Request, C> {
  readonly quota: Quota<Operation, C>
  /**
   * The operation to charge. Its `overrun` must be `charge` or `fit`, because a model may use more than the estimate.
   */
  readonly operation: NoInfer<Operation>
  /**
   * Returns the cost of a call's tokens. {@link priced} also counts money.
   *
   * @default the total, as `tokens`
   */
  readonly cost?: ((tokens: ModelTokens, model: string) => C['cost']) | undefined
  /**
   * The bound on generated tokens for calls that have none. It is held, and the AI SDK passes it to the model.
   *
   * @default none: each call needs a bound
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Estimates the tokens of a prompt before the call.
   *
   * @default a third of its bytes; 1,500 for each picture or file
   */
  readonly promptTokens?: ((prompt: unknown, model: string) => number | PromiseLike<number>) | undefined
  /**
   * Your own id of a call, to charge it once. Repeating a completed call throws {@link QuotaRepeatedError}, also from
   * another process. Repeating a failed call is admitted.
   *
   * @default none
   */
  readonly id?: ((request: Request) => string | undefined) | undefined
}

/** An admitted call. Settle it once. Until then its hold is kept alive. */
export interface ModelCall {
  /** The most tokens that the model may generate. */
  readonly maxOutputTokens: number
  /** Adds a part of the output, in case the provider reports no usage. */
  streamed(text: string): void
  /**
   * Ends a complete call: charges the reported usage. What wasn't reported is estimated from the prompt and the streamed
   * text, and so is an output of 0 if text was streamed.
   */
  end(reported?: Partial<ModelTokens>): Promise<void>
  /** Ends a call whose caller stopped reading: charges the prompt and the text streamed so far. */
  abort(): Promise<void>
  /** Ends a failed call: refunds it. If text was already streamed, charges that and the prompt. */
  fail(): Promise<void>
}

/** The most attempts per id. */
const MAX_ATTEMPTS = 10

/** Meters model calls: holds an estimate, then charges the actual usage. */
export interface ModelMeter<Request extends ModelRequest = ModelRequest> {
  /**
   * Holds the estimate of a call.
   *
   * @throws {QuotaRefusedError} if the quota refuses it
   * @throws {QuotaRepeatedError} if its id was already charged
   * @throws {QuotaError} `invalid_cost` without a bound on the output; `invalid_options` for a model without a price
   */
  start(request: Request): Promise<ModelCall>
}

/**
 * Makes a meter for the calls of any client. For the AI SDK, use {@link quotaAi}.
 *
 * @throws {QuotaError} `unknown_operation`; `invalid_options` for an operation without `overrun`
 */
export function modelMeter<Request extends ModelRequest, Operation extends string, C extends Counting>(
  options: ModelMeterOptions<Request, Operation, C>,
): ModelMeter<Request> {
  checkOperation(options.quota.policy, options.operation)
  checkCaller(options)
  const { quota, maxOutputTokens: most, promptTokens: estimate = promptTokens, logger } = options
  const reserve = reserving(options as unknown as ModelMeterOptions<Request, string, Counting>)
  const cost: Cost = options.cost ?? defaultCost(quota.policy)

  return {
    async start(request) {
      const { maxOutputTokens = most, model, prompt, signal } = request
      if (maxOutputTokens === undefined) {
        const where = 'set maxOutputTokens of the call, or in the options as the default'
        throw new QuotaError('invalid_cost', `the output has no bound, so its cost cannot be held: ${where}`)
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
        ignore?.()
        return settleOrLog(settle, logger)
      }
      const charged = (tokens: ModelTokens): Promise<void> => settled(() => hold.commit(countable(cost(tokens, model))))
      const fail = (): Promise<void> => {
        if (text === '') return settled(() => hold.cancel())
        if (recharge === undefined || isSettled) return charged(soFar())
        return settled(() => recharge(countable(cost(soFar(), model))))
      }
      const abort = (): Promise<void> => charged(soFar())
      const ignore = signal === undefined ? undefined : onAbort(signal, () => void abort())
      return {
        maxOutputTokens,
        streamed(part) {
          text += part
        },
        end: (reported = {}) => charged(completeTokens(reported, soFar())),
        abort,
        fail,
      }
    },
  }
}

type Cost = (tokens: ModelTokens, model: string) => Counting['cost']

/** Caps a cost at the largest safe integer. `maxOverrun` limits the charge anyway. */
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
   * Cancels the hold and charges a cost without the id, so that a repeat is admitted. Present for calls with an id.
   * Nothing is charged if other requests have taken the room in between.
   *
   * @throws {QuotaRefusedError} if they have
   */
  readonly recharge?: ((cost: Counting['cost']) => Promise<void>) | undefined
}

/** Returns a function that holds the cost of a call. */
function reserving<Request extends ModelRequest>(options: ModelMeterOptions<Request, string, Counting>) {
  const { quota, operation, id } = options
  return async (request: Request, cost: Counting['cost']): Promise<HeldCall> => {
    const by = { ...(await optionsOfCall(options, request)), operation }
    const toReserve = { ...by, cost, signal: request.signal }
    const name = id?.(request)
    if (name === undefined) return { hold: admitted(await quota.reserve(toReserve), '') }
    for (let attempt = 1; ; attempt++) {
      const reserved = await quota.reserve({ ...toReserve, id: `${attempt}:${name}` })
      // A failed attempt has used its id up, so the next one gets another.
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
  const why = 'a model may use more than the estimate'
  const message = `operation ${JSON.stringify(name)} needs overrun 'charge' or 'fit', with maxOverrun: ${why}`
  throw new QuotaError('invalid_options', message)
}
