// Installs subjects, each in a folder of its own. uv links the files of Python packages from its cache, so a package that many subjects share is
// on the disk once.

import { execFile } from 'node:child_process'
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The folder of all installations. scripts/interop sets it. */
export const HOME = process.env.EDGE_MCP_INTEROP

const MINUTES = 60_000
const options = (folder) => ({
  cwd: folder,
  timeout: 10 * MINUTES,
  maxBuffer: 1e8,
  env: { ...process.env, UV_CACHE_DIR: join(HOME, '.uv-cache'), UV_PYTHON_DOWNLOADS: 'never' },
})

const INSTALLERS = {
  npm: async (folder, packages) => {
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}')
    await run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', ...packages], options(folder))
  },
  PyPI: async (folder, packages) => {
    const uv = join(HOME, '.uv/bin/uv')
    await run(uv, ['venv', '--quiet', '--clear', '.venv'], options(folder))
    await run(uv, ['pip', 'install', '--quiet', '--python', '.venv/bin/python', ...packages], options(folder))
  },
}

/**
 * Installs the packages of a subject, unless they are installed, and returns its folder.
 *
 * @param {{ name: string, registry: 'npm' | 'PyPI', packages: string[] }} subject
 */
export async function install({ name, registry, packages }) {
  const folder = join(HOME, name)
  const stamp = join(folder, '.made-from')
  const wanted = [registry, ...packages, registry === 'PyPI' ? process.env.UV_PYTHON : ''].join(' ')
  if (await readFile(stamp, 'utf8').catch(() => '') === wanted) return folder
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await INSTALLERS[registry](folder, packages)
  await writeFile(stamp, wanted)
  return folder
}

/**
 * Returns a command as a list, whose program is one of the subject's packages, or a script of ours. Node.js finds the packages of a script from
 * the folder of the script, so the script is copied.
 */
export async function commandIn(folder, registry, [program, ...args], scripts) {
  if (program.endsWith('.mjs')) {
    await copyFile(join(scripts, program), join(folder, program))
    return [process.execPath, join(folder, program), ...args]
  }
  // With -P, Python does not find our scripts as modules.
  if (program.endsWith('.py')) return [join(folder, '.venv/bin/python'), '-P', join(scripts, program), ...args]
  return [join(folder, registry === 'npm' ? 'node_modules/.bin' : '.venv/bin', program), ...args]
}
