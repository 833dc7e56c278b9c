import type { QuotaLogger } from '@scoregw/quota'
import type { MaybeAsync } from '@scoregw/quota/http'
import type { HttpFailing, HttpOwnAnswer, HttpScenario } from './scenario.ts'

function theirs(): Error {
  return new Error('of the application')
}

/** Fails as the script says, or returns the value. */
export function failingTo<T>(script: string | undefined, value: T): MaybeAsync<T> {
  if (script === 'throws') throw theirs()
  if (script === 'rejects') return Promise.reject(theirs())
  return script === 'later' ? Promise.resolve(value) : value
}

/** Plays the application's own answer. */
export function ownAnswer<T>(script: HttpOwnAnswer, send: () => T): MaybeAsync<T> {
  if (script === 'sends') return send()
  // Some time later, as an answer that reads a template.
  if (script === 'sends later') return new Promise((resolve) => setTimeout(resolve)).then(send)
  if (script === 'nothing later') return Promise.resolve(undefined as T)
  return failingTo(script, undefined as T)
}

/** Options that fail. Their types are those of options that work. */
export function failingOptions({ messages, answers, isFailure }: NonNullable<HttpScenario['failing']>): object {
  return {
    ...(messages === undefined ? {} : { messages: { en: () => failingTo(messages, 'own text') } }),
    ...(answers === undefined ? {} : { answers: () => failingTo(answers, { error: 'own' }) }),
    ...(isFailure === undefined ? {} : { isFailure: () => failingTo(isFailure, true) }),
  }
}

/** A logger that remembers codes, and then may fail. */
export function loggerOf(warnings: string[], errors: string[], failing: HttpFailing | undefined): QuotaLogger {
  return {
    warn(warning) {
      warnings.push((warning as { code?: string }).code ?? String(warning))
      return failingTo(failing, undefined)
    },
    error(error) {
      errors.push((error as { code?: string }).code ?? String(error))
      return failingTo(failing, undefined)
    },
  }
}
