import type { JSX } from 'preact'
import { hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { DecisionCard } from './decision-card.tsx'
import { LatestRefusals } from './latest-refusals.tsx'
import { bodyOf, hrefOfQuestion, type Question, questionOf } from './question.ts'
import { QuestionForm } from './question-form.tsx'
import { Replay } from './replay.tsx'
import { ShadowSwitch } from './shadow-switch.tsx'
import { type WhyAnswer, whyRefused } from './why-api.ts'
import { useWhyWords } from './words.ts'

/** The address holds the question. */
export function WhyPage(): JSX.Element {
  const why = useWhyWords()
  const question = questionOf(useRoute())
  const href = hrefOfQuestion(question)
  return (
    <>
      <h1>{why.title}</h1>
      <p class="quiet">{why.about}</p>
      {question.user === '' ? (
        <>
          <LatestRefusals />
          <section aria-labelledby="ask">
            <h2 id="ask">{why.askAbout}</h2>
            <QuestionForm key={href} question={question} />
          </section>
        </>
      ) : (
        <>
          <p class="back">
            <a href={hrefOf('why')}>← {why.lately}</a>
          </p>
          <QuestionForm key={href} question={question} />
          <Answer key={href} question={question} />
        </>
      )}
    </>
  )
}

function Answer({ question }: { question: Question }): JSX.Element {
  const words = useWords()
  const why = useWhyWords()
  const api = useApi()
  const answer = useResource(() => whyRefused(api, question.user, bodyOf(question)), [api])
  if (answer.error?.code === 'not_found') return <p class="empty">{words.users.notFound(question.user)}</p>
  return (
    <Loaded resource={answer} lines={20}>
      {(found) => (
        <div class="cards why">
          <div>
            <DecisionCard title={why.now(found.operation)} of={found.now} category={found.category}>
              <p class="buttons">
                <a class="button" href={hrefOf('users', question.user)}>
                  {why.lift}
                </a>
              </p>
              <ShadowSwitch found={found} onDone={answer.reload} />
            </DecisionCard>
            <LastRefusals of={found.refusals} />
          </div>
          <div>
            {found.proposed !== null && (
              <DecisionCard title={why.proposed} of={found.proposed} category={found.category} />
            )}
            <Replay of={found.replay} />
            <Unknown of={found.replay.unknown} />
          </div>
        </div>
      )}
    </Loaded>
  )
}

/** What the replay can't know. */
function Unknown({ of }: { of: WhyAnswer['replay']['unknown'] }): JSX.Element {
  const why = useWhyWords()
  const { number } = useFormats()
  const { bySharedLimits, bySlots, undecided, isTruncated, hasOwnPeriods } = of
  return (
    <section aria-labelledby="unknown">
      <h2 id="unknown">{why.unknown}</h2>
      <ul>
        <li>{why.unknownOthers}</li>
        {bySharedLimits > 0 && <li>{why.unknownShared(number(bySharedLimits))}</li>}
        {bySlots > 0 && <li>{why.unknownSlots(number(bySlots))}</li>}
        {undecided > 0 && <li>{why.unknownUndecided(number(undecided))}</li>}
        {isTruncated && <li>{why.unknownTruncated}</li>}
        {hasOwnPeriods && <li>{why.unknownPeriods}</li>}
        <li>{why.unknownCost}</li>
      </ul>
    </section>
  )
}

function LastRefusals({ of }: { of: WhyAnswer['refusals'] }): JSX.Element {
  const why = useWhyWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <section aria-labelledby="refusals">
      <h2 id="refusals">{why.refusals}</h2>
      {of.length === 0 && <p class="quiet">{why.noRefusals}</p>}
      <ul class="plain">
        {of.map((each, index) => (
          <li key={`${each.at} ${index}`}>
            <strong>{formats.dateTime(each.at)}</strong>
            <br />
            {why.refusal(each.operation, names.cell(each.layer, each.category, each.window))}
            <br />
            <span class="quiet small">
              {why.numbers(formats.number(each.used), formats.number(each.limit), formats.number(each.requested))}{' '}
              {why.refusalUntil(formats.dateTime(each.resetAt))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
