import type { JSX } from 'preact'
import { hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useWords } from '../../words/words.ts'
import { DecisionCard } from './decision-card.tsx'
import { LastRefusals } from './last-refusals.tsx'
import { LatestRefusals } from './latest-refusals.tsx'
import { bodyOf, hrefOfQuestion, type Question, questionOf } from './question.ts'
import { QuestionForm } from './question-form.tsx'
import { Replay } from './replay.tsx'
import { ShadowSwitch } from './shadow-switch.tsx'
import { Unknown } from './unknown.tsx'
import { useWhyWords } from './words.ts'

/** Why a user is refused; the question is in the address. */
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
  const answer = useResource(() => api.why(question.user, bodyOf(question)), [api])
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
