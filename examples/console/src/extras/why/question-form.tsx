import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Policy } from '../../api/documents.ts'
import { labelsOf } from '../../form/axes.ts'
import { goTo } from '../../route.ts'
import { usePolicy } from '../../session.ts'
import { Field } from '../../ui/field.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { DAYS, hrefOfQuestion, limitValue, type Question, WHAT_IFS, type WhatIf, wholeNumber } from './question.ts'
import { useWhyWords } from './words.ts'

type Modes = 'conservative' | 'normal' | 'lenient' | 'adaptive' | 'custom'
const MODES: readonly Modes[] = ['conservative', 'normal', 'lenient', 'adaptive', 'custom']

/** Submitting it changes the address. */
export function QuestionForm({ question: asked }: { question: Question }): JSX.Element {
  const why = useWhyWords()
  const formats = useFormats()
  const policy = usePolicy()
  const [question, setQuestion] = useState(() => {
    return { ...asked, limit: limitIn(choiceOf(policy, asked.whatIf), asked.limit) }
  })
  const set = (change: Partial<Question>): void => setQuestion((before) => ({ ...before, ...change }))
  const { user, operation, whatIf, days } = question
  const isComplete = user.trim() !== '' && (whatIf !== 'limit' || wholeNumber(question.tokens) !== undefined)
  return (
    <form
      class="question"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault()
        if (isComplete) goTo(hrefOfQuestion({ ...question, user: user.trim() }))
      }}
    >
      <Field label={why.user}>
        {(props) => (
          <input
            {...props}
            spellcheck={false}
            maxLength={128}
            value={user}
            onInput={(event) => set({ user: event.currentTarget.value })}
          />
        )}
      </Field>
      <Field label={why.operation}>
        {(props) => (
          <select {...props} value={operation} onChange={(event) => set({ operation: event.currentTarget.value })}>
            <option value="">{why.lastRefused}</option>
            {Object.keys(policy.operations).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={why.days}>
        {(props) => (
          <select {...props} value={days} onChange={(event) => set({ days: event.currentTarget.value })}>
            {DAYS.map((each) => (
              <option key={each} value={each}>
                {formats.number(Number(each))}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label={why.whatIf}>
        {(props) => (
          <select
            {...props}
            value={whatIf}
            onChange={(event) => {
              const chosen = event.currentTarget.value as WhatIf
              set({ whatIf: chosen, limit: limitIn(choiceOf(policy, chosen), question.limit) })
            }}
          >
            {WHAT_IFS.map((each) => (
              <option key={each} value={each}>
                {why[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Proposal question={question} set={set} />
      <p class="buttons">
        <button type="submit" class="primary" disabled={!isComplete}>
          {why.ask}
        </button>
      </p>
    </form>
  )
}

function Proposal(of: { question: Question; set: (change: Partial<Question>) => void }): JSX.Element | null {
  const { question, set } = of
  const words = useWords()
  const why = useWhyWords()
  const policy = usePolicy()
  const { whatIf, limit, tokens, mode } = question
  if (whatIf === 'nothing') return null
  if (whatIf === 'mode') {
    return (
      <Field label={words.settings.mode}>
        {(props) => (
          <select {...props} value={mode} onChange={(event) => set({ mode: event.currentTarget.value })}>
            {MODES.map((each) => (
              <option key={each} value={each}>
                {words.modes[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
    )
  }
  return (
    <>
      <LimitField choice={choiceOf(policy, whatIf)} limit={limit} onChange={(value) => set({ limit: value })} />
      {whatIf === 'limit' && (
        <Field
          label={why.tokens}
          fault={tokens === '' || wholeNumber(tokens) !== undefined ? undefined : why.tokensFault}
        >
          {(props) => (
            <input
              {...props}
              inputMode="numeric"
              value={tokens}
              onInput={(event) => set({ tokens: event.currentTarget.value })}
            />
          )}
        </Field>
      )}
    </>
  )
}

interface LimitFieldProps {
  readonly choice: readonly LimitName[]
  readonly limit: string
  onChange(value: string): void
}

function LimitField({ choice, limit, onChange }: LimitFieldProps): JSX.Element {
  const why = useWhyWords()
  const names = useNames()
  return (
    <Field label={why.which}>
      {(props) => (
        <select {...props} value={limit} onChange={(event) => onChange(event.currentTarget.value)}>
          {choice.map(({ layer, label }) => (
            <option key={limitValue(layer, label)} value={limitValue(layer, label)}>
              {names.layer(layer)}, {names.window(label)}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

interface LimitName {
  readonly layer: string
  readonly label: string
}

/** The limits that can be chosen: a user's own for another limit, any for a shadow limit. */
function choiceOf({ layers }: Policy, whatIf: WhatIf): LimitName[] {
  const some = layers.filter(({ shared }) => whatIf === 'shadow' || !shared)
  return some.flatMap((layer) => labelsOf(layer).map((label) => ({ layer: layer.name, label })))
}

/** The same limit if it can be chosen, else the first that can. */
function limitIn(choice: readonly LimitName[], limit: string): string {
  const values = choice.map(({ layer, label }) => limitValue(layer, label))
  return values.includes(limit) ? limit : (values[0] ?? '')
}
