import { type Decision, QuotaError, type QuotaRequest, type Subject } from '@scoregw/quota'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Answers } from './answers.ts'
import { chain } from './chain.ts'
import { ipSubject } from './ip-subject.ts'
import { type Held, MeteredRequest, newestOf } from './metered-request.ts'
import type { ParsedOptions } from './options.ts'
import type { Warnings } from './warnings.ts'

type OperationOf = (req: Request) => string | undefined

/** What an engine said, and the tokens it holds. */
interface Taken {
  readonly decision: Decision
  readonly held: Held | undefined
}

/** Whether the request goes on; `false`: it was answered. */
type GoesOn = boolean | Promise<boolean>

/** A middleware that meters each request as the operation it is. */
export function meter(options: ParsedOptions, operationOf: OperationOf, warnings: Warnings): RequestHandler {
  const made = new Meter(options, operationOf, warnings)
  return function quotaMiddleware(req, res, next) {
    let goesOn: GoesOn
    try {
      goesOn = made.admit(req, res, next)
    } catch (error) {
      next(error)
      return
    }
    // `next` stays outside the `try`: what later handlers throw is not ours.
    if (goesOn === true) next()
    else if (goesOn !== false) goesOn.then((late) => late && next(), next)
  }
}

class Meter {
  readonly #options: ParsedOptions
  readonly #operationOf: OperationOf
  readonly #warnings: Warnings
  readonly #answers: Answers
  readonly #ownLayers: readonly string[]

  constructor(options: ParsedOptions, operationOf: OperationOf, warnings: Warnings) {
    this.#options = options
    this.#operationOf = operationOf
    this.#warnings = warnings
    this.#answers = new Answers(options)
    this.#ownLayers = options.quota.policy.layers.filter(({ shared }) => !shared).map(({ name }) => name)
  }

  admit(req: Request, res: Response, next: NextFunction): GoesOn {
    // A preflight is the browser's question, not the user's request.
    if (req.method === 'OPTIONS') return true
    const { skip } = this.#options
    if (skip === undefined) return this.#meter(req, res, next)
    return chain(skip(req, res), (skipped) => skipped || this.#meter(req, res, next))
  }

  #meter(req: Request, res: Response, next: NextFunction): GoesOn {
    const operation = this.#operationOf(req)
    if (operation === undefined || this.#isMetered(req)) return true
    return chain(this.#options.subject(req), (given) => {
      const subject = given ?? this.#anonymous(req)
      if (subject !== undefined) return this.#charge(req, res, next, operation, subject)
      if (this.#options.anonymous === 'skip') return true
      this.#answers.unauthorized(req, res, next)
      return false
    })
  }

  #charge(req: Request, res: Response, next: NextFunction, operation: string, subject: Subject): GoesOn {
    if (typeof subject !== 'string' && typeof subject !== 'object') {
      const message = `subject() gave a ${typeof subject} for "${operation}": make it a string, as in String(user.id)`
      this.#warnings.tell('subject_not_text', message)
    }
    const { cost } = this.#options
    return chain(typeof cost === 'function' ? cost(req) : cost, (tokens) => {
      try {
        const taken = this.#take({ subject, operation, cost: tokens })
        if (!(taken instanceof Promise)) return this.#goOn(req, res, next, taken)
        return taken.then(
          (late) => this.#goOn(req, res, next, late),
          (error: unknown) => this.#failed(req, res, next, error),
        )
      } catch (error) {
        return this.#failed(req, res, next, error)
      }
    })
  }

  #take(request: QuotaRequest): Taken | Promise<Taken> {
    const { quota, settle } = this.#options
    if (quota.sync) {
      return settle === 'outcome' ? takenOf(quota.reserveSync(request)) : uncancellable(quota.consumeSync(request))
    }
    return settle === 'outcome' ? quota.reserve(request).then(takenOf) : quota.consume(request).then(uncancellable)
  }

  #goOn(req: Request, res: Response, next: NextFunction, { decision, held }: Taken): boolean {
    const { quota, requestPropertyName, standardHeaders, logger } = this.#options
    const metered = new MeteredRequest({ quota, req, res, decision, held, standardHeaders, logger })
    this.#attach(req, requestPropertyName, metered)
    if (!decision.allowed) {
      this.#answers.exceeded(req, res, next, decision)
      return false
    }
    metered.watch()
    return true
  }

  #failed(req: Request, res: Response, next: NextFunction, error: unknown): boolean {
    if (!(error instanceof QuotaError) || error.code !== 'quota_unavailable') throw error
    this.#answers.unavailable(req, res, next, error)
    return false
  }

  #attach(req: Request, name: string, metered: MeteredRequest): void {
    const holder = req as unknown as Record<string, unknown>
    if (holder[name] !== undefined) {
      const message = `req.${name} is in use already and is replaced; name another with requestPropertyName`
      this.#warnings.tell('property_taken', message)
    }
    holder[name] = metered
  }

  /** Whether this engine has decided about the request already: one request is one decision. */
  #isMetered(req: Request): boolean {
    for (let metered = newestOf(req); metered !== undefined; metered = metered.previous) {
      if (metered.quota !== this.#options.quota) continue
      const message = `${req.method} ${req.path} meets this engine's middleware twice; it is charged the first time only`
      this.#warnings.tell('mounted_twice', message)
      return true
    }
    return false
  }

  /** The subject of a request that has none, if it is metered by its address. */
  #anonymous(req: Request): Subject | undefined {
    if (this.#options.anonymous !== 'ip') return undefined
    this.#checkProxy(req)
    const subject = ipSubject(req.ip)
    if (subject === undefined || this.#ownLayers.length === 1) return subject
    return Object.fromEntries(this.#ownLayers.map((layer) => [layer, subject]))
  }

  #checkProxy(req: Request): void {
    const trusted: unknown = req.app.get('trust proxy')
    if (trusted === true) {
      const message = "'trust proxy' is true: any client can choose its address; name the proxies or their number"
      this.#warnings.tell('permissive_trust_proxy', message)
    }
    if (trusted === false && req.headers['x-forwarded-for'] !== undefined) {
      const message =
        "X-Forwarded-For is there but 'trust proxy' is false: behind a proxy all callers share its address"
      this.#warnings.tell('untrusted_forwarded_for', message)
    }
  }
}

function takenOf(reservation: Held & { readonly decision?: Decision | undefined }): Taken {
  // Without an id a reservation is held or refused, so that it always has its decision.
  const decision = reservation.decision as Decision
  return { decision, held: decision.allowed ? reservation : undefined }
}

function uncancellable(decision: Decision): Taken {
  return { decision, held: undefined }
}
