import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Failures } from '../../api/api.ts'
import { Switch } from '../../ui/choice.tsx'
import { Scroll } from '../../ui/scroll.tsx'
import { useFormats, useWords } from '../../words/words.ts'
import { type FactorStep, factorAt } from './readout.tsx'

/** The chart as a table, for screen readers and exact numbers. Its rows are made when it's opened. */
export function BucketTable({ failures, steps }: { failures: Failures; steps: readonly FactorStep[] }): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const [isOpen, setOpen] = useState(false)
  const [onlyFailed, setOnlyFailed] = useState(true)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.asTable}</summary>
      {isOpen && (
        <>
          <Switch label={words.onlyFailed} isOn={onlyFailed} onChange={setOnlyFailed} />
          <p class="quiet small">{words.utc(formats.zoneAt(failures.until))}</p>
          <Rows failures={failures} steps={steps} onlyFailed={onlyFailed} />
        </>
      )}
    </details>
  )
}

interface RowsProps {
  readonly failures: Failures
  readonly steps: readonly FactorStep[]
  readonly onlyFailed: boolean
}

function Rows({ failures: { series, bucketMinutes }, steps, onlyFailed }: RowsProps): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const rows = series.filter(({ failureRate }) => !onlyFailed || failureRate > 0).reverse()
  if (rows.length === 0) return <p class="empty">{words.noFailed}</p>
  return (
    <Scroll label={words.asTable} isTall>
      <table class="buckets">
        <caption>{words.tableAbout(formats.number(rows.length))}</caption>
        <thead>
          <tr>
            <th scope="col">{words.from}</th>
            {[
              words.calls,
              words.rate,
              words.codeZero,
              words.otherServer,
              words.business,
              words.client,
              words.factor,
            ].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ ts, bucketUnix, calls, failureRate, codeZero, serverError, businessFail, clientError }) => {
            const factor = factorAt(steps, bucketUnix + bucketMinutes * 60)
            return (
              <tr key={ts}>
                <th scope="row" class="no-wrap">
                  {formats.dateTime(ts)}
                </th>
                <td class="number">{formats.number(calls)}</td>
                <td class="number">{formats.percent(failureRate)}</td>
                <td class="number">{formats.number(codeZero)}</td>
                <td class="number">{formats.number(serverError - codeZero)}</td>
                <td class="number">{formats.number(businessFail)}</td>
                <td class="number">{formats.number(clientError)}</td>
                <td class="number">{factor === undefined ? '–' : formats.factor(factor)}</td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Scroll>
  )
}
