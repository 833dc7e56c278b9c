import { type Attributes, trace } from '@opentelemetry/api'
import type { AdmittedDecision, Decision, RefusedDecision, WindowStatus } from '../decision/decision.ts'
import type { QuotaMetricsOptions } from './options.ts'

/**
 * Tells each decision as attributes of the span that is active where it was asked for; one that is not recorded costs a
 * look. Of several decisions within a span the last one stands.
 *
 * @returns a function that ends it
 */
export function tellSpans(quota: QuotaMetricsOptions['quota'], hasSubjects: boolean): () => void {
  const tell = (attributes: () => Attributes): void => {
    const span = trace.getActiveSpan()
    if (span?.isRecording() === true) span.setAttributes(attributes())
  }
  const stops = [
    quota.on('admitted', (decision) => tell(() => ofAdmitted(decision, hasSubjects))),
    quota.on('refused', (decision) => tell(() => ofRefused(decision, hasSubjects))),
    quota.on('degraded', ({ category, allowed }) =>
      tell(() => ({ 'quota.decision': 'degraded', 'quota.allowed': allowed, 'quota.category': category })),
    ),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function ofDecision(decision: Decision, hasSubjects: boolean): Attributes {
  const { allowed, operation, category, cost, subject } = decision
  const who = typeof subject === 'string' ? subject : JSON.stringify(subject)
  return {
    'quota.decision': allowed ? 'admitted' : 'refused',
    'quota.allowed': allowed,
    'quota.operation': operation,
    'quota.category': category,
    'quota.cost': cost,
    ...(hasSubjects ? { 'quota.subject': who } : {}),
  }
}

function ofAdmitted(decision: AdmittedDecision, hasSubjects: boolean): Attributes {
  const tightest = tightestOf(decision)
  return {
    ...ofDecision(decision, hasSubjects),
    ...(tightest === undefined ? {} : ofLimit(tightest, tightest.limit, Number(tightest.remaining))),
  }
}

function ofRefused(decision: RefusedDecision, hasSubjects: boolean): Attributes {
  const { binding, retryAfterMs, retryable } = decision
  return {
    ...ofDecision(decision, hasSubjects),
    ...ofLimit(binding, binding.limit, Math.max(0, binding.limit - binding.used)),
    'quota.retryable': retryable,
    'quota.retry_after_ms': retryAfterMs,
  }
}

function ofLimit({ layer, window }: { layer: string; window: string }, limit: number, remaining: number): Attributes {
  return { 'quota.limit': `${layer} ${window}`, 'quota.limit.tokens': limit, 'quota.remaining': remaining }
}

type Finite = WindowStatus & { readonly limit: number }

/** The limit of which the smallest share is left. */
function tightestOf({ windows }: AdmittedDecision): Finite | undefined {
  const counted = windows.filter(
    (each): each is Finite => each.enforced && each.used !== null && each.limit !== 'unlimited',
  )
  const share = ({ remaining, limit }: Finite): number => Number(remaining) / limit
  return counted.length === 0 ? undefined : counted.reduce((best, each) => (share(each) < share(best) ? each : best))
}
