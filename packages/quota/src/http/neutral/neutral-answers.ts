import type { RefusedDecision, Violation } from '../../decision/decision.ts'
import { anAddress, optional } from '../../options/checks.ts'
import { optionsParser } from '../../options/options-parser.ts'
import type { Policy } from '../../policy/policy.ts'
import { type Cost, formatOf } from '../../policy/units.ts'
import { isoText } from '../../time/zoned.ts'
import type { Locale, QuotaAnswers } from '../texts.ts'
import { chineseText } from './chinese.ts'
import { englishText } from './english.ts'
import type { RefusalFacts } from './refusal-facts.ts'

export interface NeutralAnswersOptions {
  /**
   * Where people can request a higher limit.
   *
   * @default none is mentioned
   */
  readonly supportUrl?: string | undefined
}

const parse = /* @__PURE__ */ optionsParser<NeutralAnswersOptions>('neutralAnswers()', () => ({
  supportUrl: optional(anAddress()),
}))

const TEXTS: Readonly<Record<Locale, typeof englishText>> = { en: englishText, 'zh-CN': chineseText }

/**
 * Neutral answers, built only from the policy: the default for your own policies.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 * @example
 * quotaMiddleware({ quota, subject, answers: neutralAnswers({ supportUrl: 'https://example.com/limits' }) })
 */
export function neutralAnswers(options: NeutralAnswersOptions = {}): QuotaAnswers {
  const { supportUrl } = parse(options)
  return (decision, { locale, policy }) => {
    const { binding, retryAfterSeconds, retryable } = decision
    const { scope, category, window, unit, limit, burst, used, requested, resetAt } = binding
    const facts = factsOf(decision, policy)
    return {
      error: 'quota_exceeded',
      msg: TEXTS[locale](facts, supportUrl),
      retryAfterSeconds: retryable ? retryAfterSeconds : null,
      retryable,
      quota: {
        ...(policy === undefined || policy.layers.length > 1 ? { scope } : {}),
        ...(policy === undefined || policy.categories.length > 1 ? { category } : {}),
        window,
        ...(unit === undefined ? {} : { unit }),
        limit,
        ...(burst === undefined ? {} : { burst }),
        used,
        requested,
        resetAt: isoText(resetAt),
      },
    }
  }
}

function factsOf(decision: RefusedDecision, policy: Policy | undefined): RefusalFacts {
  const { binding, retryAfterSeconds, cost } = decision
  const { unit = isAboveOne(cost) || pricesAboveOne(policy) ? 'tokens' : 'requests' } = binding
  const { kind, window, lengthMs, limit, burst, requested, retryable, resetAt } = binding
  return {
    kind,
    window,
    lengthMs,
    limit,
    burst: limit === 0 ? undefined : burst,
    requested,
    retryable,
    retryAfterSeconds,
    resetAt,
    owner: ownerOf(binding, policy),
    category: policy !== undefined && policy.categories.length > 1 ? binding.category : undefined,
    unit,
    format: policy && formatOf(policy, unit),
    timeZone: timeZoneOf(binding, policy),
  }
}

/** The first layer that isn't shared stands for the caller. A copied decision doesn't say which layers are shared. */
function ownerOf({ layer, scope }: Violation, policy: Policy | undefined): RefusalFacts['owner'] {
  const found = policy?.layers.find(({ name }) => name === layer)
  if (found?.shared === true) return 'service'
  const caller = policy?.layers.find(({ shared }) => !shared)
  return found === undefined || found === caller ? 'caller' : { name: scope }
}

/**
 * Whether an operation costs more than one token. Without named units, the text then says "tokens" instead of
 * "requests".
 */
function pricesAboveOne(policy: Policy | undefined): boolean {
  return Object.values(policy?.operations ?? {}).some(({ cost }) => isAboveOne(cost))
}

function isAboveOne(cost: Cost): boolean {
  return typeof cost === 'number' && cost > 1
}

function timeZoneOf({ window }: Violation, policy: Policy | undefined): string {
  const found = policy?.windows.find(({ label }) => label === window)
  return (found !== undefined && 'timeZone' in found ? found.timeZone : undefined) ?? 'UTC'
}
