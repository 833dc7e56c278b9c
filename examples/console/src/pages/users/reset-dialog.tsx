import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { CATEGORIES, LAYERS, type QuotaStatus } from '../../limits.ts'
import { useApi } from '../../session.ts'
import { Confirm } from '../../ui/confirm.tsx'
import { Select } from '../../ui/field.tsx'
import { useNames } from '../../words/names.ts'
import { useWords } from '../../words/words.ts'

interface ResetProps {
  readonly id: string
  onReset(status: QuotaStatus): void
  onClose(): void
}

/** The site-wide windows are never preselected. */
export function ResetDialog({ id, onReset, onClose }: ResetProps): JSX.Element {
  const { users: words } = useWords()
  const api = useApi()
  const names = useNames()
  const [category, setCategory] = useState('')
  const [layer, setLayer] = useState('personal')
  const reset = async (): Promise<void> => {
    const chosen = CATEGORIES.find((each) => each === category)
    const what = { layer: LAYERS.find((each) => each === layer) ?? 'personal' }
    onReset(await api.resetQuota(id, chosen === undefined ? what : { ...what, category: chosen }))
  }
  return (
    <Confirm title={words.resetTitle} about={words.resetAbout} yes={words.resetSubmit} act={reset} onClose={onClose}>
      <Select
        label={words.resetWhat}
        value={category}
        options={[['', words.every], ...CATEGORIES.map((each) => [each, names.category(each)] as const)]}
        onChange={setCategory}
      />
      <Select
        label={words.resetLayer}
        value={layer}
        options={LAYERS.map((each) => [each, words.resetLayers[each]])}
        onChange={setLayer}
      />
    </Confirm>
  )
}
