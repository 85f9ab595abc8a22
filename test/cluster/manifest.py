#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""manifest.py CRD MANIFEST: whether a Kubernetes manifest is what its resource's definition says. Fields that the
definition does not have are wrong, too, which a server would drop in silence."""
import sys

try:
    import jsonschema
    import yaml
except ImportError as missing:
    print(f"manifest.py: skipped: Python has no {missing.name}")
    sys.exit(77)


def close(schema):
    """A copy in which objects have no other fields than those that are named."""
    if isinstance(schema, list):
        return [close(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: close(value) for key, value in schema.items()}
    if out.pop("x-kubernetes-int-or-string", False):
        out.pop("anyOf", None)
        out.pop("pattern", None)
        out["type"] = ["integer", "string"]
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        crd = yaml.safe_load(f)
    with open(sys.argv[2], encoding="utf-8") as f:
        manifest = yaml.safe_load(f)
    group, version = manifest["apiVersion"].split("/")
    schema = next(v["schema"]["openAPIV3Schema"] for v in crd["spec"]["versions"]
                  if v["name"] == version)
    schema = close(schema)
    schema["properties"]["metadata"] = {"type": "object"}
    wrong = [f"{'.'.join(map(str, e.path))}: {e.message[:200]}"
             for e in jsonschema.Draft7Validator(schema).iter_errors(manifest)]
    if group != crd["spec"]["group"] or manifest["kind"] != crd["spec"]["names"]["kind"]:
        wrong.append("another resource")
    for line in wrong:
        print(f"manifest.py: {sys.argv[2]}: {line}")
    if not wrong:
        print(f"manifest.py: {sys.argv[2]} is as {crd['metadata']['name']} {version} says")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
