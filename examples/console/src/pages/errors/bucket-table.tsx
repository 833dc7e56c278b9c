import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Bucket } from '../../api/api.ts'
import type { LinePoint } from '../../ui/chart-options.ts'
import { Table } from '../../ui/table.tsx'
import { useFormats, useWords } from '../../words/words.ts'
import { factorAt } from './factor.ts'

interface BucketTableProps {
  readonly buckets: readonly Bucket[]
  readonly line: readonly LinePoint[]
  /** The length of a step. */
  readonly minutes: number
}

/** The chart's steps with failures as a table, for screen readers and exact numbers. Its rows are made when it's opened. */
export function BucketTable({ buckets, line, minutes }: BucketTableProps): JSX.Element {
  const { failures: words } = useWords()
  const { number, percent, dateTime, factor } = useFormats()
  const [isOpen, setOpen] = useState(false)
  const counted = (name: string, count: (bucket: Bucket) => number) => {
    return { name, isNumber: true, cell: (bucket: Bucket) => number(count(bucket)) }
  }
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.asTable}</summary>
      {isOpen && (
        <Table
          label={words.asTable}
          isTall
          items={buckets.filter(({ failureRate }) => failureRate > 0).reverse()}
          keyOf={({ ts }) => ts}
          empty={words.noFailed}
          columns={[
            { name: words.from, cell: ({ ts }) => dateTime(ts) },
            counted(words.calls, ({ calls }) => calls),
            { name: words.rate, isNumber: true, cell: ({ failureRate }) => percent(failureRate) },
            counted(words.codeZero, ({ codeZero }) => codeZero),
            counted(words.otherServer, ({ serverError, codeZero }) => serverError - codeZero),
            counted(words.business, ({ businessFail }) => businessFail),
            counted(words.client, ({ clientError }) => clientError),
            {
              name: words.factor,
              isNumber: true,
              cell: ({ bucketUnix }) => factor(factorAt(line, bucketUnix + minutes * 60) ?? 1),
            },
          ]}
        />
      )}
    </details>
  )
}
