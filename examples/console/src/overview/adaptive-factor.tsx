import type { JSX } from 'preact'
import type { Overview } from '../api/api.ts'
import { useFormats, useWords } from '../words/words.ts'
import { Card } from './card.tsx'

export function AdaptiveFactor({ of }: { of: Overview['adaptive'] }): JSX.Element {
  const words = useWords()
  const formats = useFormats()
  const { mode, isActive, factor, min, max } = of
  return (
    <Card title={words.overview.factor} of="all">
      <p class={isActive ? 'large' : 'large quiet'}>{formats.factor(factor)}</p>
      <p class="quiet small">
        {isActive
          ? words.overview.factorOn(formats.factor(min), formats.factor(max))
          : words.overview.factorOff(words.modes[mode])}
      </p>
    </Card>
  )
}
