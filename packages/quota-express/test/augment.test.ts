import { slowTests } from '@scoregw/server-kit'
import ts from 'typescript'
import { expect, it } from 'vitest'

/** Of the libraries: every application reads them. */
const files = new Map<string, ts.SourceFile | undefined>()

/** What TypeScript says about an application's file. */
function faultsOf(code: string): string[] {
  const file = `${import.meta.dirname}/app-of-a-user.ts`
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, allowImportingTsExtensions: true },
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    customConditions: ['@scoregw/source'],
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (path) => path === file || fileExists.call(host, path)
  host.getSourceFile = (path, ...rest) => {
    if (path === file) return ts.createSourceFile(path, code, rest[0])
    if (!files.has(path)) files.set(path, getSourceFile.call(host, path, ...rest))
    return files.get(path)
  }
  const program = ts.createProgram([file], options, host)
  const source = program.getSourceFile(file)
  const found = [...program.getGlobalDiagnostics(), ...program.getSemanticDiagnostics(source)]
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

const APP = `
import express from 'express'
import { createQuota, quotaMiddleware } from '@scoregw/quota-express'
const quota = createQuota({ limits: { api: { by: 'user', limit: 100, per: '15m' } } })
const metered = quotaMiddleware({ quota, subject: (req) => req.get('x-user') })
const app = express().use(metered)
`

it.runIf(slowTests)('an app may have a `quota` of its own on its requests, and asks the middleware for ours', () => {
  const own = `
declare global {
  namespace Express {
    interface Request { quota: { readonly mine: string } }
  }
}
app.get('/', (req, res) => res.json([req.quota.mine, metered.of(req)?.decision.limits.api?.remaining]))`
  expect(faultsOf(APP + own)).toEqual([])
})

it.runIf(slowTests)('`req.quota` has a type only with an import', () => {
  const handler = "app.get('/', (req, res) => res.json(req.quota?.charged))"
  expect(faultsOf(APP + handler)).toEqual([expect.stringContaining("Property 'quota' does not exist")])
  expect(faultsOf(`import '@scoregw/quota-express/augment'${APP}${handler}`)).toEqual([])
})
