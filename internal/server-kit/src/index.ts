export { cacheFolder } from './cache-folder.ts'
export { unpackDebianPackage } from './debian-package.ts'
export { isExecutable, pathFolders } from './executables.ts'
export { freePort, startOnFreePort } from './ports.ts'
