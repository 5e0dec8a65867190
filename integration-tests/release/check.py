#!/usr/bin/env python3
"""Checks what is in a release: check.py FOLDER REPOSITORY (Maven's local one). Ends with 1 and says what is wrong.

The SBOM and the licences name exactly what the shaded jar bundles; the image has that jar and nothing else; the chart's
archive is called as Helm expects.
"""

import hashlib
import json
import re
import sys
import tarfile
import zipfile
from io import BytesIO
from pathlib import Path

SHADED = "io/strata/kafka/shaded/"
OURS = "io.strata.kafka"

folder = Path(sys.argv[1]).resolve()
problems: list[str] = []


def one(pattern: str) -> Path:
    found = [path for path in sorted(folder.glob(pattern)) if path.suffix != ".asc"]
    if len(found) != 1:
        sys.exit(f"{folder}: found {[path.name for path in found]}, expected one {pattern}")
    return found[0]


def expect(holds: bool, problem: str) -> None:
    if not holds:
        problems.append(problem)


def classes(jar: zipfile.ZipFile) -> set[str]:
    return {
        name
        for name in jar.namelist()
        if name.endswith(".class") and not name.startswith("META-INF/") and not name.endswith("module-info.class")
    }


def check_checksums() -> None:
    expected = {path.name for path in folder.iterdir() if path.suffix != ".asc" and not path.name.endswith("SUMS")}
    for sums in ("SHA256SUMS", "SHA512SUMS"):
        named = {line.split("*", 1)[1] for line in (folder / sums).read_text().splitlines()}
        expect(named == expected, f"{sums}: found {sorted(named)}, expected {sorted(expected)}")


def check_bundled(jar: zipfile.ZipFile) -> int:
    """Compares the SBOM, the shaded jar's classes and META-INF/THIRD-PARTY.txt, each with the others."""
    repository = Path(sys.argv[2])
    third_party = jar.read("META-INF/THIRD-PARTY.txt").decode()
    sections = re.split(r"\n(?=\S.*(?:META-INF/|text below))", third_party.split("\n-----")[0])
    licence_of = {
        name: section.splitlines()[0] for section in sections for name in re.findall(r"^    ([\w.-]+:[\w.-]+)", section, re.M)
    }
    spdx = {"Apache-2.0": "Apache License 2.0", "MIT": "MIT License", "BSD-3-Clause": "BSD 3-Clause", "BSD-2-Clause": "BSD 2-Clause"}
    bundled_names = classes(jar)
    left = {name for name in bundled_names if name.startswith(SHADED) or not name.startswith("io/strata/")}
    left = {name for name in left if not name.startswith("com/yammer/metrics/core/")}
    components = json.loads(one("*-cyclonedx.json").read_text())["components"]
    listed: set[str] = set()
    for component in components:
        if component["group"] == OURS:
            continue
        name, version = f"{component['group']}:{component['name']}", component["version"]
        listed.add(name)
        path = repository / component["group"].replace(".", "/") / component["name"] / version / f"{component['name']}-{version}.jar"
        hashes = {entry["alg"]: entry["content"] for entry in component["hashes"]}
        expect(hashes["SHA-256"] == hashlib.sha256(path.read_bytes()).hexdigest(), f"SBOM: {name} has another SHA-256 than {path}")
        with zipfile.ZipFile(path) as library:
            missing = [entry for entry in sorted(classes(library)) if not {entry, SHADED + entry} & bundled_names]
            expect(not missing, f"SBOM: lists {name}, of which the jar lacks {len(missing)} classes, {missing[:1]} the first")
            left -= {place for entry in classes(library) for place in (entry, SHADED + entry)}
        ids = {choice["license"].get("id", "?") for choice in component["licenses"] if "license" in choice}
        texts = {spdx[key] for key in ids if key in spdx}
        found = licence_of.get(name, "nothing")
        expect(any(text in found for text in texts), f"THIRD-PARTY.txt: {name} is below '{found}', the SBOM says {sorted(ids)}")
    expect(not left, f"SBOM: these classes of the jar are of no component: {sorted(left)[:5]}")
    expect(listed == set(licence_of), f"THIRD-PARTY.txt and SBOM differ in {sorted(listed ^ set(licence_of))}")
    for file in sorted(set(re.findall(r"META-INF/[\w.-]+[A-Z0-9.]\w*", third_party.split("\n-----")[0]))):
        expect(file in jar.namelist(), f"THIRD-PARTY.txt: names {file}, which is not in the jar")
    return len(listed)


def check_image(jar: Path) -> None:
    with tarfile.open(one("*-oci.tar")) as image:
        files = {member.name: image.extractfile(member).read() for member in image if member.isfile()}  # type: ignore[union-attr]
    for name, content in files.items():
        if name.startswith("blobs/sha256/"):
            expect(hashlib.sha256(content).hexdigest() == Path(name).name, f"image: {name} has another digest")
    blob = lambda descriptor: files["blobs/" + descriptor["digest"].replace(":", "/")]  # noqa: E731
    layout = json.loads(files["index.json"])["manifests"]
    expect(len(layout) == 1, f"image: the layout names {len(layout)} images, expected one: tools ask which")
    manifests = json.loads(blob(layout[0]))["manifests"]
    platforms = {f"{manifest['platform']['os']}/{manifest['platform']['architecture']}" for manifest in manifests}
    expect(platforms == {"linux/amd64", "linux/arm64"}, f"image: found {sorted(platforms)}, expected linux/amd64 and linux/arm64")
    layers = set()
    for descriptor in manifests:
        manifest = json.loads(blob(descriptor))
        config = json.loads(blob(manifest["config"]))
        expect({key: config[key] for key in ("os", "architecture")} == descriptor["platform"], f"image: {descriptor} has {config}")
        layers.add(tuple(layer["digest"] for layer in manifest["layers"]))
    expect(len(layers) == 1, f"image: the architectures differ in their layers: {sorted(layers)}")
    found = {}
    for layer in manifest["layers"]:
        with tarfile.open(fileobj=BytesIO(blob(layer))) as tar:
            found |= {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}  # type: ignore[union-attr]
    expect(found == {"strata-kafka.jar": jar.read_bytes()}, f"image: found {sorted(found)}, expected the jar alone as strata-kafka.jar")


def check_chart() -> None:
    archive = one("strata-kafka-*.tgz")
    with tarfile.open(archive) as tar:
        names = tar.getnames()
        chart = tar.extractfile("strata-kafka/Chart.yaml").read().decode()  # type: ignore[union-attr]
    version = re.search(r"^version: (\S+)$", chart, re.M).group(1)  # type: ignore[union-attr]
    expect(archive.name == f"strata-kafka-{version}.tgz", f"{archive.name}: its Chart.yaml says version {version}")
    expect(all(name.startswith("strata-kafka") for name in names), f"{archive.name}: has {names}")


def check_testcontainers(jar: Path) -> None:
    with zipfile.ZipFile(one("strata-testcontainers-*[0-9T].jar")) as module:
        names = [name for name in module.namelist() if name.endswith("/strata-kafka.jar")]
        expect(len(names) == 1 and module.read(names[0]) == jar.read_bytes(), f"strata-testcontainers: found {names}, expected the jar")


installable = one("strata-kafka-*[!s]-cyclonedx.json").name.replace("-cyclonedx.json", ".jar")
check_checksums()
with zipfile.ZipFile(folder / installable) as shaded:
    bundled = check_bundled(shaded)
    expect("META-INF/NOTICE" in shaded.namelist(), f"{installable}: has no META-INF/NOTICE")
check_image(folder / installable)
check_chart()
check_testcontainers(folder / installable)
if problems:
    sys.exit("\n".join(problems))
print(f"{installable}: {bundled} libraries, as the SBOM and THIRD-PARTY.txt have them; the image has that jar; checksums and chart are right")
