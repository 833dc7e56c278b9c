import { retryAfterSeconds as secondsUntil } from '../../decision/decide.ts'
import type { Refusal, RefusedDecision } from '../../decision/decision.ts'
import { anAddress, optional } from '../../options/checks.ts'
import { optionsParser } from '../../options/options-parser.ts'
import { limitNamed } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import { formatOf } from '../../policy/units.ts'
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
    const { refusedBy, retryAfterSeconds, retryable } = decision
    const { name, title, unit, limit, burst, used, requested, resetAt } = refusedBy
    const facts = factsOf(decision, policy)
    return {
      error: 'quota_exceeded',
      msg: TEXTS[locale](facts, supportUrl),
      retryAfterSeconds,
      retryable,
      quota: {
        name,
        title,
        unit,
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
  const { refusedBy, now, source } = decision
  const { unit, kind, name, lengthMs, limit, burst, requested, retryable, resetAt } = refusedBy
  return {
    kind,
    name,
    lengthMs,
    limit,
    burst: limit === 0 ? undefined : burst,
    requested,
    isBlocked: source === 'blocked',
    retryable,
    retryAfterSeconds: secondsUntil(resetAt, now),
    resetAt,
    owner: ownerOf(refusedBy, policy),
    category: categoryOf(decision, policy),
    unit,
    format: policy && formatOf(policy, unit),
    timeZone: timeZoneOf(refusedBy, policy),
  }
}

/** The first layer of subjects' own stands for the caller. */
function ownerOf({ by, shared, title }: Refusal, policy: Policy | undefined): RefusalFacts['owner'] {
  if (shared !== undefined) return 'service'
  const caller = policy?.layers.find((layer) => !layer.shared)
  return caller === undefined || by === caller.name ? 'caller' : { name: title }
}

/** The operation's category, if the limit doesn't count all operations. */
function categoryOf({ operation, refusedBy }: RefusedDecision, policy: Policy | undefined): string | undefined {
  const counted = policy && limitNamed(policy, refusedBy.name)?.operations
  return counted && policy.operations[operation]?.category
}

function timeZoneOf({ name }: Refusal, policy: Policy | undefined): string {
  const window = policy && limitNamed(policy, name)?.window
  return (window !== undefined && 'timeZone' in window ? window.timeZone : undefined) ?? 'UTC'
}
