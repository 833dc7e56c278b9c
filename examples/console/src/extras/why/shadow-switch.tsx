import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Done } from '../../ui/notice.tsx'
import { useNames } from '../../words/names.ts'
import type { WhyAnswer } from './why-api.ts'
import { useWhyWords } from './words.ts'

interface Limit {
  readonly layer: string
  readonly window: string
}

interface ShadowSwitchProps {
  readonly found: WhyAnswer
  onDone(): void
}

/** Puts the refusing limit into shadow, or enforces it again. It asks first, because this affects everyone. */
export function ShadowSwitch({ found, onDone }: ShadowSwitchProps): JSX.Element | null {
  const why = useWhyWords()
  const names = useNames()
  const api = useApi()
  const [isAsking, setAsking] = useState(false)
  const [isDone, setDone] = useState(false)
  const { now, category } = found
  const limit: Limit | undefined = now.binding ?? now.shadowed[0]
  if (limit === undefined) return <Done>{isDone && why.shadowDone}</Done>
  const isOn = now.binding === null
  const name = names.cell(limit.layer, category, limit.window)
  const label = isOn ? why.shadowOff(name) : why.shadowOn(name)
  const change = async (): Promise<void> => {
    const { etag, document } = await api.settings()
    const before = document.shadow[limit.layer] ?? []
    if (before !== 'all') {
      const others = before.filter((each) => each !== limit.window)
      const after = isOn ? others : [...others, limit.window]
      await api.patchSettings({ shadow: { [limit.layer]: after } }, etag)
    }
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
        <Confirm
          title={why.shadowTitle}
          about={isOn ? why.shadowOffAbout : why.shadowOnAbout}
          yes={label}
          isHarmless
          act={change}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
