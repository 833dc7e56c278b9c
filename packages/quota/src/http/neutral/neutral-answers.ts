import { retryAfterSeconds as secondsUntil } from '../../decision/decide.ts'
import type { Refusal, RefusedDecision } from '../../decision/decision.ts'
import { anAddress, optional } from '../../options/checks.ts'
import { optionsParser } from '../../options/options-parser.ts'
import { limitNamed } from '../../policy/cells.ts'
import type { Policy } from '../../policy/policy.ts'
import { formatOf } from '../../policy/units.ts'
import { isoText } from '../../time/zoned.ts'
import {
  type Length,
  type Locale,
  lengthOf,
  moneyText,
  numberText,
  type QuotaAnswers,
  type RefusalFacts,
  waitOf,
  wholeMinute,
} from '../texts.ts'
import { chineseText } from './chinese.ts'

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

/** A refusal in English. */
export function englishText(facts: RefusalFacts, supportUrl: string | undefined): string {
  return supportUrl === undefined ? refusalOf(facts) : `${refusalOf(facts)} For a higher limit, see ${supportUrl}.`
}

function refusalOf(facts: RefusalFacts): string {
  const { kind, limit, retryable } = facts
  const owner = ownerText(facts.owner)
  if (facts.isBlocked) return retryable ? `Blocked. ${whenText(facts)}` : 'Blocked.'
  if (kind === 'concurrency') {
    const whom = owner === undefined ? '' : ` for ${owner}`
    const text = `Too many requests at once${whom}: at most ${numberText(limit)} can run at the same time.`
    return retryable ? `${text} Try again when one has finished.` : text
  }
  // With a limit of 0 requests, no request is "too large".
  if (!retryable && (facts.unit !== 'requests' || limit > 0)) return neverText(facts, owner)
  const reached = owner === undefined ? 'Limit reached' : `${capitalized(owner)}'s limit is reached`
  const text = `${reached}: ${amountOf(limit, facts)} per ${perText(facts)}${burstText(facts)}.`
  return retryable ? `${text} ${whenText(facts)}` : text
}

function neverText(facts: RefusalFacts, owner: string | undefined): string {
  const { limit, requested } = facts
  const most = amountText(limit, facts)
  const whose = owner === undefined ? 'the' : `${owner}'s`
  const verb = facts.unit === 'requests' ? 'counts as' : 'needs'
  const needs = `This request ${verb} ${amountOf(requested, facts)}, more than ${whose} limit of`
  if (facts.burst === undefined) return `${needs} ${most} per ${perText(facts)}.`
  return `${needs} ${amountText(facts.burst, facts)} in a burst (${most} per ${perText(facts)}).`
}

/** `undefined`: the caller. */
function ownerText(owner: RefusalFacts['owner']): string | undefined {
  if (owner === 'caller') return undefined
  return owner === 'service' ? 'this service' : `your ${owner.name}`
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The number only, or an amount of money with its currency. */
function amountText(amount: number, { format }: RefusalFacts): string {
  return format === undefined ? numberText(amount) : moneyText(amount, format, 'en-US')
}

function amountOf(amount: number, { unit, format, category }: RefusalFacts): string {
  if (format !== undefined) return moneyText(amount, format, 'en-US')
  const kind = category === undefined ? '' : `${category} `
  return `${numberText(amount)} ${kind}${amount === 1 ? unit.replace(/s$/, '') : unit}`
}

function perText(facts: RefusalFacts): string {
  const length = lengthOf(facts)
  return length.count === 1 ? length.unit : lengthText(length)
}

function burstText(facts: RefusalFacts): string {
  return facts.burst === undefined ? '' : `, in bursts of ${amountText(facts.burst, facts)}`
}

function lengthText({ count, unit }: Length): string {
  return `${count} ${count === 1 ? unit : `${unit}s`}`
}

function whenText({ kind, resetAt, timeZone, retryAfterSeconds }: RefusalFacts): string {
  if (kind !== 'calendar') return `Try again in ${waitOf(retryAfterSeconds).map(lengthText).join(' and ')}.`
  const [year, month, day, time] = wholeMinute(resetAt, timeZone)
  return `Resets on ${Number(day)} ${MONTHS[Number(month) - 1]} ${year}, ${time} (${timeZone}).`
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const
