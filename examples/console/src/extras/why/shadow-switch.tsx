import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { WhyAnswer } from '../../api/api.ts'
import { useApi } from '../../session.ts'
import { Done } from '../../ui/notice.tsx'
import { Question } from '../../ui/question.tsx'
import { useAction } from '../../ui/use-action.ts'
import { useNames } from '../../words/names.ts'
import { useWhyWords } from './words.ts'

interface Limit {
  readonly layer: string
  readonly window: string
}

interface ShadowSwitchProps {
  readonly found: WhyAnswer
  onDone(): void
}

/** Stops enforcing the limit that refuses, or enforces it again; asks first, since this affects everybody. */
export function ShadowSwitch({ found, onDone }: ShadowSwitchProps): JSX.Element | null {
  const why = useWhyWords()
  const names = useNames()
  const api = useApi()
  const action = useAction()
  const [isAsking, setAsking] = useState(false)
  const [isDone, setDone] = useState(false)
  const { now, category } = found
  const limit: Limit | undefined = now.binding ?? now.shadowed[0]
  if (limit === undefined) return <Done>{isDone && why.shadowDone}</Done>
  const isOn = now.binding === null
  const name = names.cell(limit.layer, category, limit.window)
  const label = isOn ? why.shadowOff(name) : why.shadowOn(name)
  const change = async (): Promise<void> => {
    const done = await action.run(async () => {
      const { etag, document } = await api.settings()
      const before = document.shadow[limit.layer] ?? []
      if (before === 'all') return
      const others = before.filter((each) => each !== limit.window)
      const after = isOn ? others : [...others, limit.window]
      await api.patchSettings({ shadow: { [limit.layer]: after } }, etag)
    })
    if (!done) return
    setAsking(false)
    setDone(true)
    onDone()
  }
  return (
    <>
      <p class="buttons">
        <button type="button" onClick={() => setAsking(true)}>
          {label}
        </button>
      </p>
      <Done>{isDone && why.shadowDone}</Done>
      {isAsking && (
        <Question
          title={why.shadowTitle}
          about={isOn ? why.shadowOffAbout : why.shadowOnAbout}
          yes={label}
          isDangerous={false}
          isBusy={action.isBusy}
          error={action.error}
          onYes={change}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  )
}
