import type { Overview } from '../../api/api.ts'
import { hrefOf } from '../../route.ts'
import type { Names } from '../../words/names.ts'
import type { Speech } from '../../words/words.ts'
import { shareOf, totalOf } from './endings.tsx'
import { headroomOf, LAST_MINUTES, tightestOf } from './figures.ts'
import { texts as textsIn } from './words.ts'

/** A problem that needs attention. */
interface Problem {
  readonly text: string
  /** Where to go; absent if nowhere. */
  readonly href?: string
}

/** Server errors above this share are a problem. A few always occur. */
const MANY_ERRORS = 0.02
/** Refusals above this share are a problem: a client loops, or a limit is too low. */
const MANY_REFUSED = 0.25
/** Below this number of requests, shares say little. */
const ENOUGH_REQUESTS = 50
/** A shared limit with less left is a problem: soon it refuses everyone. */
const LITTLE_LEFT = 0.1

/** The current problems, the worst first. */
export function problemsOf(data: Overview, speech: Speech, names: Names): Problem[] {
  const { requests, refusals, shared, settings } = data
  const { formats, language } = speech
  const texts = textsIn[language]
  const problems: Problem[] = []
  if (requests.minutes === null) problems.push({ text: texts.countsAway })
  if (shared === null) problems.push({ text: texts.sharedAway })
  if (refusals.degraded > 0) problems.push({ text: texts.degraded(formats.number(refusals.degraded)) })
  const last = (requests.minutes ?? []).slice(-LAST_MINUTES)
  const errors = shareOf(last, 'serverError')
  if (errors >= MANY_ERRORS) problems.push({ text: texts.errors(formats.percent(errors)), href: hrefOf('errors') })
  const refused = shareOf(last, 'refused')
  if (totalOf(last) >= ENOUGH_REQUESTS && refused >= MANY_REFUSED) {
    problems.push({ text: texts.manyRefused(formats.percent(refused)), href: hrefOf('refusals') })
  }
  const tightest = tightestOf(shared)
  if (tightest !== undefined && headroomOf(tightest) < LITTLE_LEFT) {
    const text = texts.nearlyFull(names.limit(tightest.name), formats.percent(1 - headroomOf(tightest)))
    problems.push({ text, href: hrefOf('settings') })
  }
  if (settings.faults === null) problems.push({ text: texts.faultsAway })
  else if (settings.faults.length > 0) {
    problems.push({ text: texts.faults(formats.number(settings.faults.length)), href: hrefOf('settings') })
  }
  return problems
}
