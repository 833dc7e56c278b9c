import type { JSX } from 'preact'
import type { WhyAnswer } from '../../api/api.ts'
import { useFormats } from '../../words/words.ts'
import { useWhyWords } from './words.ts'

/** What the answer does not know. */
export function Unknown({ of }: { of: WhyAnswer['replay']['unknown'] }): JSX.Element {
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
